//! Events on their way to agents: inboxes that agents read, and webhooks that events are sent to.
//!
//! # The modules, in reading order
//!
//! - [`events`](Events): the parts of the whole, and the news of gaps in inboxes.
//! - `envelope`: an event as its readers get it, a CloudEvent.
//! - `waiting`: readers that wait for something new.
//! - `handed_out`: which events are invisible for a while, because they were delivered.
//! - `inbox`: pages of an inbox, long polls, acknowledgement and replay.
//! - [`settings`](WebhookSettings): what an operator can set about webhooks.
//! - `signature`: the signatures of what is sent.
//! - `webhooks`: webhooks as an agent creates and changes them.
//! - `sender`: sends what is due to webhooks.
//! - `health`: what the requests to a webhook say of it, and when the next attempt is made.
//!
//! # Invariants
//!
//! - An event that is not acknowledged is always delivered again.
//! - A reader that waits holds neither a thread nor a database connection.
//! - Two nodes never send to the same webhook at once: the lease on it decides.
//! - Nothing but a challenge is ever sent to an address that has not answered one.
//! - Nothing here runs a component or writes SQL.
//! - No module here reads the system's time: [`Events`] has the clock.

mod envelope;
mod events;
mod handed_out;
mod health;
mod inbox;
mod sender;
mod settings;
mod signature;
mod waiting;
mod webhooks;

pub use events::Events;
pub use inbox::{InboxPage, Poll};
pub use settings::WebhookSettings;
pub use waiting::{Waiter, Wake};
pub use webhooks::{NewWebhook, SecretEntropy, WebhookChange};
