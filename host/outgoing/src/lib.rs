//! Outgoing traffic: requests to addresses that others name, look-ups of DNS records and public pages, and
//! text messages.
//!
//! # The modules, in reading order
//!
//! - [`requests`](Outgoing): requests over HTTP, to addresses that may be reached.
//! - [`lookups`]: TXT records of the DNS, and public pages, for components that ask.
//! - [`sms`]: text messages, to a file while developing and to a provider in production.
//!
//! # Invariants
//!
//! - Only public addresses are ever connected to, and those that the operator allows. That is decided
//!   when the connection is made, after the name is resolved.
//! - A redirect is never followed to another host, except between a host and its name with `www.`.
//! - The size of an answer is always bounded.
//! - Neither the number nor the text of a message is logged.
//! - Time-outs of requests are real time: a clock that is advanced does not change them.

pub mod lookups;
mod requests;
pub mod sms;
mod sms_settings;

pub use requests::{Outgoing, OutgoingError, OutgoingResponse};
pub(crate) use requests::{read_beginning, request_error};
pub use reqwest::Certificate;
