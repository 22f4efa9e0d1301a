//! The Model Context Protocol: every capability is a tool.
//!
//! The modules, in reading order:
//!
//! - `transport` is the HTTP service, for requests that crate `http` has authenticated; `sessions` are kept for it; `sender` is
//!   the sender of a message; `settings` is what an operator can set.
//! - `endpoint` is the state that all clients share; `server` answers the messages of one client and
//!   passes each method to its module.
//! - `view` is which tools a client sees, by the path of its endpoint; `tools` are those of a catalog snapshot, `tool`
//!   one of them, `permitted` what a caller's scopes permit, `request` a parsed tool call.
//! - `finder` are the tools that find and call the others, `words` their index.
//! - `call` is `tools/call`, `hints` the refusal of what a tool does not promise, `next` the step that an answer names and `door` the steps that a client can take, `claim`
//!   the questions with which a person claims the agent during a call, `claim_page` the page where they do it, `waiting`
//!   the agents whose calls wait for it; `direct` answers calls without the transport.
//! - `resources` and `page` are documents, `inbox` the agent's events as one of them, `prompts` texts that a person
//!   can start with, `changes` the notifications about a new catalog version and new events, `subscriptions` the tasks that send them to sessions.
//!
//! Invariants: no other crate knows the protocol's messages; a tool's call is the pipeline's call, and a tool
//! never runs a component itself; a stream ends when its token expires, and within seconds when its token is
//! revoked.

mod call;
mod changes;
mod claim;
mod claim_page;
mod direct;
mod door;
mod endpoint;
mod finder;
mod hints;
mod inbox;
mod next;
mod page;
mod permitted;
mod prompts;
mod request;
mod resources;
mod sender;
mod server;
mod sessions;
mod settings;
mod subscriptions;
mod tool;
mod tools;
mod transport;
mod view;
mod waiting;
mod words;

pub use direct::DirectCall;
pub use endpoint::{Mcp, parse_error_response};
pub use page::Page;
pub use rmcp::ServerHandler;
pub use sender::{SESSION_HEADER, Sender};
pub use server::Server;
pub use settings::McpSettings;
pub use transport::{SESSION_IDLE, Service};
pub use view::View;
