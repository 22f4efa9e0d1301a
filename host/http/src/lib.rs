//! HTTP: REST, event streams, OAuth's wire format, OpenAPI, and the operator's address.
//!
//! The modules, in reading order:
//!
//! - `serve` accepts connections at both addresses until the host stops (`stop`); `connections` makes room for them,
//!   by the `activity` of each; `socket` is the socket of one connection, `tls` its certificate, `body` the body of one request,
//!   `host_header` the check of its `Host`; `dispatcher` answers it with a document of the feeds or by a
//!   route, after `admission` has counted it and its `work`.
//! - `router` has every route for agents and every layer on one screen; `app` is the state that handlers reach,
//!   and `city` that of the handlers of a city, which are in `city_routes`.
//! - Arguments of handlers: `caller` (the authenticated agent), `address` and `proxies` (the client's
//!   address), `input` (body and idempotency key), `request_id`, `trace` (the place in a trace).
//! - Responses: `answer` (of a call), `refusal` (of a failure) and its `challenge`, `conditional`
//!   (conditional requests), `media_type` and `coding` (content negotiation), `compressed` (documents in
//!   content codings), `cors`.
//! - Pages: `page` (their headers), `error_page` (a failure as a page for browsers), `assets` (the stylesheet
//!   and the icon) with their `asset_routes`, and the `static_file` of each; `times` (how a page shows a time).
//! - Handlers for agents: `capabilities`, `call`, `agents`, `events`, `mcp`, `feeds` and their `changes`
//!   (`change_streams` counts the open streams), `openapi` and its
//!   `descriptions`, `metadata` and its `guide`, `install`, `media` (files of people; `byte_range` is a part of a file), `published` (texts under secret addresses); `oauth` for their clients.
//! - Handlers for people: `front` (the first page), `docs` (the reference), `status` with its `status_board`, `map`,
//!   `record_pages` with their `page_cache` and `sitemap`, the pages of `oauth`, among them those of the links in text
//!   messages, of accounts (`downloads`) and of handoffs. For the provider of text messages: `sms`.
//! - For operators: `operator_routes` is the table of their routes and roles, `operator_gate` what every
//!   request passes, `operator` how operators are known; `node` checks this node every few seconds, for the `probes`
//!   and `problems`, and `starting` answers the probes before; the handlers are in `admin`, `audit_export`,
//!   `audit_verification`, `quarantine`, `versions`, `recordings`, `metrics` (with `request_meters` and the `database_sample`),
//!   `observation` (with `setting`),
//!   `sources`, `operators`, `incidents`, `files`, and `people` with its `export`. `console` is their pages: it only shows what
//!   these routes answer, and its forms only send requests to them.
//! - `fuzzing` is what only fuzz targets call.
//!
//! Invariants: no other crate knows axum or HTTP statuses; a handler never runs a component itself, but
//! calls the pipeline; the caller is an argument of a handler, so no handler can forget to authenticate;
//! no request to a document of the current feeds reads a file or compresses anything.

mod activity;
mod address;
mod admin;
mod admission;
mod agents;
mod answer;
mod app;
mod asset_routes;
mod assets;
mod audit_export;
mod audit_verification;
mod basemap;
mod body;
mod byte_range;
mod call;
mod caller;
mod capabilities;
mod challenge;
mod change_streams;
mod changes;
mod chunks;
mod city;
mod city_routes;
mod coding;
mod compressed;
mod conditional;
mod connections;
mod console;
mod cors;
mod database_sample;
mod descriptions;
mod dispatcher;
mod docs;
mod downloads;
mod error_page;
mod events;
mod export;
mod feeds;
mod files;
mod front;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guide;
mod host_header;
mod incidents;
mod input;
mod install;
mod map;
mod map_settings;
mod mcp;
mod media;
mod media_type;
mod metadata;
mod metrics;
pub mod node;
mod oauth;
mod observation;
mod openapi;
mod operator;
mod operator_gate;
mod operator_routes;
mod operators;
mod page;
mod page_cache;
mod people;
mod probes;
mod problems;
mod proxies;
mod published;
mod quarantine;
mod record_pages;
mod recordings;
mod refusal;
mod request_id;
mod request_meters;
mod router;
mod serve;
mod setting;
mod sitemap;
mod sms;
mod socket;
mod sources;
mod starting;
mod static_file;
mod status;
mod status_board;
mod stop;
mod times;
mod tls;
mod trace;
mod versions;
mod work;

pub use app::App;
pub use connections::Connections;
pub use dispatcher::Dispatcher;
pub use input::read_body;
pub use map_settings::MapSettings;
pub use operator::{OperatorAccess, OperatorSocket, OperatorToken, SOCKET_FILE, TOKEN_FILE};
pub use operator_routes::{OperatorRoute, operator_routes};
pub use proxies::Proxies;
pub use refusal::Refusal;
pub use request_id::RequestId;
pub use router::dispatcher;
pub use serve::{Listeners, Server, accept, serve};
pub use setting::Setting;
pub use starting::{StartProgress, answer_probes};
pub use stop::Stop;
pub use tls::{Tls, TlsFiles};
