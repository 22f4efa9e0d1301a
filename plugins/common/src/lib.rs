//! What the shipped capabilities share: shapes of answers, rules for texts that people write, and
//! how they ask each other.

pub mod calendar;
pub mod caller;
pub mod contact;
pub mod event;
pub mod hex;
mod host_name;
pub mod ics;
mod limit;
pub mod listings;
pub mod page;
pub mod pairings;
pub mod patterns;
pub mod people;
pub mod relations;
pub mod taxonomy;
pub mod text;
pub mod threads;
pub mod time;
mod version;
pub mod window;
pub mod zones;

pub use host_name::is_host_name;
pub use limit::{Limit, quota};
pub use version::expect_version;

/// Stands as `trust` beside texts that somebody else wrote.
pub const UNTRUSTED: &str = "untrusted_user_content";
