//! Tests of the store in process, on SQLite.

mod approved;
mod guards;
mod held;
mod held_limits;
mod person;
mod recordings;
mod releases;
mod scrub;
