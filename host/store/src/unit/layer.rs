//! A layer of writes: those of the call before the first savepoint, or since a savepoint.

use super::guard::Guard;
use crate::{
    changes::Write,
    document::{DocumentKey, UniqueKey},
    effects::{NewEvent, OutboxCommand, TimerChange, TimerKey},
};
use std::{collections::BTreeMap, sync::Arc};

/// The writes of one layer. The rollback to a savepoint discards the layer above it.
#[derive(Debug, Default, Clone)]
pub(super) struct Layer {
    pub(super) writes: BTreeMap<DocumentKey, Write>,
    /// The unique values that the writes of this layer have claimed, with the ids of their documents. A
    /// later write of the same document may have given up a value.
    pub(super) claims: BTreeMap<UniqueKey, String>,
    pub(super) events: Vec<NewEvent>,
    pub(super) timers: BTreeMap<TimerKey, TimerChange>,
    pub(super) commands: Vec<OutboxCommand>,
    /// Guards of files that were stored outside of the database. Copies of a layer share them; a file is removed when the
    /// last copy is dropped without a commit.
    pub(super) guards: Vec<Arc<Guard>>,
}

impl Layer {
    /// Returns whether a commit of the layer would change nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.events.is_empty()
            && self.timers.is_empty()
            && self.commands.is_empty()
    }

    pub(super) fn extend(&mut self, later: Self) {
        self.writes.extend(later.writes);
        self.claims.extend(later.claims);
        self.events.extend(later.events);
        self.commands.extend(later.commands);
        self.timers.extend(later.timers);
        self.guards.extend(later.guards);
    }
}
