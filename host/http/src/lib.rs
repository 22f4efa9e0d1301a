//! HTTP: REST, streams of events, OAuth's wire format, OpenAPI, and the operator's address.
//!
//! The modules, in reading order:
//!
//! - `serve` accepts connections at both addresses until the host stops; `wire` is the socket of one
//!   connection, `body` the body of one request, `doors` what answers it: a document of the feeds from
//!   memory, or a route.
//! - `router` has every route and layer on one screen; `app` is the state that handlers reach.
//! - Arguments of handlers: `caller` (the authenticated agent), `address` and `proxies` (the client's
//!   address), `input` (body and idempotency key), `request_id`.
//! - Responses: `answer` (of a call), `refusal` (of a failure) and its `challenge`, `conditional` and
//!   `coding` (what a client has and accepts), `cors`.
//! - Handlers for agents: `capabilities`, `call`, `agents`, `events`, `mcp`, `feeds`, `openapi`,
//!   `metadata` and its `guide`, `install`; `oauth` for their clients.
//! - Handlers for people: `map`, `handoff`, the pages of `oauth`. For the provider of text messages:
//!   `sms`. For the operator: `admin`, `metrics`.
//!
//! Invariants: no other crate knows axum or HTTP statuses; a handler never runs a component itself, but
//! calls the pipeline; a caller is an argument of a handler and never a line in its body; nothing is
//! read or packed for a request to a feed.

mod address;
mod admin;
mod agents;
mod answer;
mod app;
mod body;
mod call;
mod caller;
mod capabilities;
mod challenge;
mod coding;
mod conditional;
mod cors;
mod doors;
mod events;
mod feeds;
mod guide;
mod handoff;
mod input;
mod install;
mod map;
mod mcp;
mod metadata;
mod metrics;
mod oauth;
mod openapi;
mod proxies;
mod refusal;
mod request_id;
mod router;
mod serve;
mod sms;
mod wire;

pub use app::App;
pub use doors::Doors;
pub use input::read_body;
pub use proxies::Proxies;
pub use refusal::Refusal;
pub use request_id::RequestId;
pub use router::{admin_router, doors};
pub use serve::{Listening, accept, serve};
