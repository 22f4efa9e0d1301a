//! Calendar files (iCalendar, RFC 5545): parsing, import and export.
//!
//! The parser and the expansion of rules are part of this capability: the libraries that build for a
//! component report no line of an error, expand every series from its beginning, and bring a second
//! time zone database (decision 056).

pub(crate) mod components;
#[cfg(test)]
mod corpus;
pub(crate) mod definitions;
pub(crate) mod entries;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod interval;
pub(crate) mod lines;
pub(crate) mod reader;
#[cfg(test)]
mod tests;
pub(crate) mod times;
pub(crate) mod types;
