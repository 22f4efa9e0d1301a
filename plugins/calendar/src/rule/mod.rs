//! Recurrence rules of RFC 5545, as a text and as a value.

mod parse;
mod types;
mod write;

pub(crate) use parse::{date, date_time};
pub(crate) use types::*;
