//! A release as this node follows it: its record, its canary once it is loaded, and what is counted.

use super::{counts::ReleaseCounts, release::Release};
use crate::{capability::Capability, refusal::LoadError};
use portolan_store::ReleaseRecord;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// After how long a canary that the host has failed to load is loaded again.
const RETRY_AFTER: Duration = Duration::from_secs(20);

/// A running release at this node.
#[derive(Debug)]
pub(crate) struct Canary {
    pub(crate) record: ReleaseRecord,
    pub(crate) counts: Arc<ReleaseCounts>,
    pub(crate) state: CanaryState,
}

/// How far this node is with a canary. Each state names the served version beside which it was loaded.
#[derive(Debug)]
pub(crate) enum CanaryState {
    /// It is not loaded, because this node serves another version than the one that the release began with, or none, or
    /// because it is to be loaded again.
    Apart,
    Loading(Arc<Capability>),
    Ready {
        capability: Arc<Capability>,
        beside: Arc<Capability>,
    },
    Refused {
        error: LoadError,
        beside: Arc<Capability>,
        since: Instant,
    },
}

impl Canary {
    /// Returns the served version beside which the canary was loaded, or is being loaded.
    pub(crate) fn beside(&self) -> Option<&Arc<Capability>> {
        match &self.state {
            CanaryState::Apart => None,
            CanaryState::Loading(beside)
            | CanaryState::Ready { beside, .. }
            | CanaryState::Refused { beside, .. } => Some(beside),
        }
    }

    /// Returns why this node gives the canary to nobody, if it was refused.
    pub(crate) fn refusal(&self) -> Option<&LoadError> {
        match &self.state {
            CanaryState::Refused { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Forgets the refusal if the host has failed, not the canary, and enough time has passed. Then it is loaded again.
    pub(crate) fn retry_if_due(&mut self) {
        if let CanaryState::Refused { error, since, .. } = &self.state
            && is_retried(error, since.elapsed())
        {
            self.state = CanaryState::Apart;
        }
    }

    /// Forgets the refusal if a decision of the operator can end it. Then the canary is loaded again.
    pub(crate) fn retry_after_decision(&mut self) {
        if self.refusal().is_some_and(LoadError::can_be_decided) {
            self.state = CanaryState::Apart;
        }
    }

    /// Returns the release for a snapshot in which this capability serves, if the canary is loaded beside it.
    pub(crate) fn release(&self, serving: &Arc<Capability>) -> Option<Release> {
        match &self.state {
            CanaryState::Ready { capability, beside } if Arc::ptr_eq(beside, serving) => {
                Some(Release {
                    id: self.record.id,
                    share: self.record.release.share,
                    capability: Arc::clone(capability),
                    served: serving.digest,
                    promotes_at: self
                        .record
                        .release
                        .due_at
                        .filter(|_| self.record.release.promotes),
                    counts: Arc::clone(&self.counts),
                })
            }
            _ => None,
        }
    }

    /// Returns the state for the operator.
    pub(crate) fn state_name(&self) -> &'static str {
        match &self.state {
            CanaryState::Apart => "apart",
            CanaryState::Loading(_) => "loading",
            CanaryState::Ready { .. } => "given",
            CanaryState::Refused { .. } => "refused",
        }
    }
}

/// Returns whether a canary that was refused so long ago is loaded again.
fn is_retried(error: &LoadError, waited: Duration) -> bool {
    error.is_host_failure() && waited >= RETRY_AFTER
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::DbError;

    #[test]
    fn a_canary_is_loaded_again_some_time_after_a_failure_of_the_host() {
        let failed = LoadError::from(DbError::Closed);
        assert!(!is_retried(&failed, RETRY_AFTER / 2));
        assert!(is_retried(&failed, RETRY_AFTER));
        assert!(!is_retried(&LoadError::StartFailed, RETRY_AFTER));
    }
}
