//! Compares two versions of a capability and finds what breaks the agents that call it.
//!
//! - `descriptors`: the comparison of two descriptors
//! - `parts`: the schemas of a comparison, with their references followed
//! - `input`, `output`: what a schema no longer accepts, and what callers do not expect in an answer
//! - `declared`: errors, events and states
//! - `fixes`: what to do about a breaking change
//! - `stored`: what does not fit the documents that exist
//! - `published`: the version that a running host serves

mod declared;
mod fixes;
mod input;
mod output;
mod parts;
mod descriptors;
mod published;
mod stored;

pub(crate) use descriptors::describe_breaking_changes;
pub use descriptors::find_breaking_changes;
pub use published::published_version;
pub use stored::stored_conflicts;
