//! The states of a saved search, and the transitions between them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    Active,
    Paused,
    Deleted,
}

use State::{Active, Deleted, Paused};

pub(crate) const SEARCH: Machine<State> = Machine::new(
    "saved_search",
    &[
        Transition::new("create", &[], &[Active]),
        Transition::new("update", &[Active, Paused], &[]),
        Transition::new("pause", &[Active], &[Paused]),
        Transition::new("resume", &[Paused], &[Active]),
        Transition::new("delete", &[Active, Paused], &[Deleted]),
    ],
)
.read_by("saved_searches", "get", "search_id");
