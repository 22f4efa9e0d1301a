//! Applies the decisions of the operator.

use super::state::Keeper;
use crate::{capability::Capability, refusal::LoadError};
use portolan_store::InstalledId;
use std::{collections::BTreeMap, sync::Arc};

impl Keeper {
    /// Reads the recorded decisions of the operator. If they have changed, here or on another node, they
    /// are applied, and the files and the versions of releases that wait for a decision are loaded again.
    pub(super) async fn apply_decisions(&mut self) {
        let decisions = match self.catalog.recorded_decisions().await {
            Ok(decisions) if self.decisions.as_ref() == Some(&decisions) => return,
            Ok(decisions) => decisions,
            Err(error) => {
                tracing::warn!(%error, "the decisions about components cannot be read");
                return;
            }
        };
        let grants = self.catalog.merge_grants(&decisions.1);
        if grants != self.catalog.grants() {
            self.catalog.set_grants(grants);
            self.published = false;
        }
        self.stop_transferred(&decisions.0);
        self.decisions = Some(decisions);
        self.unapplied.retain(|_, unapplied| !unapplied.can_be_resolved());
        for canary in self.canaries.values_mut() {
            canary.retry_after_decision();
        }
        for known in self.files.values_mut() {
            if known.refused.as_ref().is_some_and(LoadError::can_be_decided) {
                known.handled = None;
            }
        }
    }

    /// Stops serving the capabilities whose ids now belong to another publisher.
    fn stop_transferred(&mut self, installed: &BTreeMap<String, InstalledId>) {
        let mut ended = Vec::new();
        for known in self.files.values_mut() {
            let is_transferred = |serving: &mut Arc<Capability>| {
                let owner = installed.get(&*serving.id);
                owner.is_some_and(|owner| owner.publisher != serving.publisher.to_string())
            };
            if let Some(old) = known.serving.take_if(is_transferred) {
                known.handled = None;
                ended.push(old);
            }
        }
        for old in ended {
            self.record_change(Some(&old), None);
        }
    }
}
