//! What counts the runs of an action. It is kept with the action in the catalog, so that a run does not look it up.

use crate::{host::Host, meters::ActionMeters, recent_calls::RecentRuns};
use portolan_catalog::{Action, Capability};
use std::sync::Arc;

/// The counters of an action.
#[derive(Debug)]
pub(super) struct Instruments {
    pub(super) meters: ActionMeters,
    pub(super) recent: Arc<RecentRuns>,
}

impl Host {
    /// Returns the counters of an action of a capability. Every version of the action has the same.
    pub(super) fn instruments<'a>(
        &self,
        capability: &Capability,
        action: &'a Action,
    ) -> Option<&'a Instruments> {
        let (id, name) = (&*capability.id, &*action.descriptor.name);
        action.companion.get_or_init(|| Instruments {
            meters: self.meters.of_action(id, name),
            recent: self.recent_calls.of((id, name), self.clock.now()),
        })
    }
}
