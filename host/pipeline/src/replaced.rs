//! Runs a call again with the newest version of its capability, after a collection was replaced.

use crate::{
    execution::{ensure_input, find},
    host::Host,
    run::{Run, RunOutcome},
};
use portolan_catalog::{Action, Capability};
use portolan_vocabulary::{ErrorCode, Failure};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a call waits for the next catalog before it tries a replaced collection again.
const REPLACEMENT_INTERVAL: Duration = Duration::from_millis(50);

impl Host {
    /// Runs the call with the newest version of its capability, after a collection was replaced, for at most
    /// `call_queue_time_ms`.
    pub(super) async fn run_replaced(self: &Arc<Self>, run: &Run<'_>) -> RunOutcome {
        let deadline = Instant::now() + self.sandbox.limits().call_queue_time();
        let mut changes = self.catalog.changes();
        // The next catalog may be there since the call began.
        if *changes.borrow() != run.snapshot.version {
            changes.mark_changed();
        }
        while Instant::now() < deadline {
            let _changed = tokio::time::timeout(REPLACEMENT_INTERVAL, changes.changed()).await;
            if let Some(run_outcome) = self.run_newest(run).await {
                return run_outcome;
            }
        }
        RunOutcome::failed(Failure::new(ErrorCode::DependencyUnavailable).after_s(1))
    }

    /// Runs the call with the newest version of its capability; `None` if a collection was replaced again.
    async fn run_newest(self: &Arc<Self>, run: &Run<'_>) -> Option<RunOutcome> {
        let snapshot = self.catalog.snapshot();
        let name = (&*run.capability.id, run.action.descriptor.name.as_str());
        let found = find(&snapshot, &run.context.caller, name, run.context.now);
        let target = found.and_then(|(capability, action)| {
            // The permission was checked for the access class in the former version.
            let is_permitted = action.descriptor.access == run.action.descriptor.access;
            if !is_permitted || !is_compared(run, capability, action) {
                return Err(Failure::new(ErrorCode::VersionConflict).after_s(1));
            }
            ensure_input(action, &run.input).map(|()| (capability, action))
        });
        let (capability, action) = match target {
            Ok(target) => target,
            Err(failure) => return Some(RunOutcome::failed(failure)),
        };
        let newest = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::clone(&run.context),
            input: run.input.clone(),
            dry_run: run.dry_run,
            keyed: run.keyed,
            task: run.task.clone(),
            rates: run.rates.clone(),
            approval: run.approval.clone(),
            started: run.started,
        };
        self.retry(&newest).await
    }
}

/// Returns whether what the person limits, or has approved, was compared with a version that means the same as this
/// one. A call of a person who limits nothing was compared with nothing.
fn is_compared(run: &Run<'_>, capability: &Capability, action: &Action) -> bool {
    run.approval.is_none()
        || (action.consequence == run.action.consequence
            && action.descriptor.cost_credits == run.action.descriptor.cost_credits
            && capability.publisher == run.capability.publisher
            && capability.major_version() == run.capability.major_version())
}
