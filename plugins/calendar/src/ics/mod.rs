//! Calendar files (iCalendar, RFC 5545): parsing, import and export.
//!
//! The parser is part of this capability. Of the libraries that build for a component, none reports
//! the line of an error, and those that read the most need the clock and the randomness of a
//! browser.

pub(crate) mod components;
pub(crate) mod entries;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod lines;
pub(crate) mod times;
pub(crate) mod types;
