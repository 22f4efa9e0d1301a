//! A person of the demonstration.

use crate::cli::demo::agent::Agent;

/// A person of the cast, with an agent and a listing on the host.
pub(super) struct Person {
    pub(super) name: String,
    pub(super) agent: Agent,
    pub(super) listing_id: String,
}
