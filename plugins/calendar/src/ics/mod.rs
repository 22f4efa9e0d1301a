//! Files of calendars (iCalendar, RFC 5545): read, taken over, and exported.
//!
//! Own code, because of the libraries that build for a component, none says in which line of a file a
//! fault is, and those that read the most need a clock and randomness of a browser.

pub(crate) mod components;
pub(crate) mod entries;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod lines;
pub(crate) mod times;
pub(crate) mod types;
