//! Tests of the store in process, on SQLite.

mod held;
mod held_limits;
mod person;
mod scrub;
