//! What leaves for addresses that others name: requests over HTTP, look-ups in the DNS and on public
//! pages, and text messages.

pub mod lookups;
mod requests;
pub mod sms;

pub use requests::{Answered, Outgoing, OutgoingError};
pub(crate) use requests::{beginning, reason};
