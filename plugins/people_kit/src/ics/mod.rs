//! Writing of calendar files (iCalendar, RFC 5545).

pub mod observances;
pub mod write;
