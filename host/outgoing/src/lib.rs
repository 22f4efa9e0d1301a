//! Outgoing traffic: requests to addresses that others name, look-ups of DNS records and public pages, text
//! messages, and emails.
//!
//! # The modules, in reading order
//!
//! - [`requests`](Outgoing): requests over HTTP, to addresses that may be reached.
//! - [`lookups`]: TXT records of the DNS, public pages and files that change, for components that ask.
//! - [`sms`]: text messages, to a file while developing and to a provider in production.
//! - [`email`]: emails, by the operator's SMTP server; `email_settings`, `email_address` and `breaker` belong to it.
//!
//! # Invariants
//!
//! - Only public addresses are ever connected to, and those that the operator allows. That is decided
//!   when the connection is made, after the name is resolved. The operator's own SMTP server may be anywhere.
//! - A redirect is never followed to another host, except between a host and its name with `www.`, and for files that
//!   change, whose address may lead to any public host.
//! - The size of an answer is always bounded.
//! - Neither the number or address nor the text of a message is logged.
//! - Time-outs of requests are real time: a clock that is advanced does not change them.

mod breaker;
pub mod email;
mod email_address;
mod email_settings;
pub mod lookups;
mod requests;
pub mod sms;
mod sms_settings;

pub use requests::{Outgoing, OutgoingError, OutgoingResponse};
pub(crate) use requests::{read_beginning, request_error, retry_after_s};
pub use reqwest::Certificate;
