//! A release as this node follows it: its record, its canary once it is loaded, and what is counted.

use super::{counts::ReleaseCounts, release::Release};
use crate::{capability::Capability, refusal::LoadError};
use portolan_store::ReleaseRecord;
use std::sync::Arc;

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
    /// It is not loaded, because this node serves another version than the one that the release began with, or none.
    Apart,
    Loading(Arc<Capability>),
    Ready {
        capability: Arc<Capability>,
        beside: Arc<Capability>,
    },
    Refused {
        error: LoadError,
        beside: Arc<Capability>,
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
