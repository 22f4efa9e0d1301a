//! Files of calendars (iCalendar, RFC 5545), as they are written.

pub mod observances;
pub mod write;
