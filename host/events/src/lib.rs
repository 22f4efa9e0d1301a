//! Events on their way to agents: inboxes that agents read, and webhooks that events are sent to.
//!
//! # The modules, in reading order
//!
//! - [`events`](Events): the service, and announcements of gaps in inboxes.
//! - `envelope`: an event as its readers get it, a CloudEvent.
//! - `waiting`: readers that wait for new events.
//! - `watched` and `watch`: watchers of inboxes, which take nothing from readers.
//! - `visibility`: the visibility timeout of delivered events.
//! - `inbox`: pages of an inbox, long polls, acknowledgement and replay.
//! - [`settings`](WebhookSettings): the operator's settings of webhooks.
//! - `signature`: the signatures of requests to webhooks.
//! - `challenges`: the challenges of webhooks, and their limits.
//! - `webhooks`: the creation and the changes of webhooks by agents.
//! - `sender`: sends due deliveries to webhooks.
//! - `meters`: counters of requests to webhooks.
//! - `health`: the state of a webhook, and the time of the next attempt.
//!
//! # Invariants
//!
//! - An event that is not acknowledged is delivered again until its retention is over.
//! - A reader that waits holds neither a thread nor a database connection.
//! - Two nodes never send to the same webhook at once: only the holder of its lease sends.
//! - An address gets nothing but a challenge until it has answered one.
//! - Nothing here runs a component or writes SQL.
//! - Times are from the clock of [`Events`]. The system's time only measures durations and evicts
//!   from caches.

mod challenges;
mod envelope;
mod events;
mod health;
mod inbox;
mod meters;
mod sender;
mod settings;
mod signature;
mod visibility;
mod waiting;
mod watch;
mod watched;
mod webhooks;

pub use events::Events;
pub use inbox::{InboxPage, Poll};
pub use meters::WebhookMeters;
pub use settings::WebhookSettings;
pub use waiting::{Waiter, Wake};
pub use watch::InboxWatcher;
pub use webhooks::{NewWebhook, SecretEntropy, WebhookChange};
