//! Whether a loaded component may serve, and when.

use super::state::Keeper;
use crate::{capability::Capability, migration::Step, refusal::LoadError, snapshot::Snapshot};
use std::sync::Arc;

/// A component that may serve now, or after a migration.
pub(crate) enum Admitted {
    Ready(Arc<Capability>),
    AfterMigration(Box<Capability>, Vec<Step>),
}

impl Keeper {
    pub(crate) async fn admit(
        &self,
        file: &str,
        candidate: Capability,
        permits_older: bool,
    ) -> Result<Admitted, LoadError> {
        self.ensure_admissible(file, &candidate, permits_older).await?;
        let steps = self.catalog.migration_steps(&candidate).await?;
        match steps.is_empty() {
            true => self.make_ready(candidate).await.map(Admitted::Ready),
            false => Ok(Admitted::AfterMigration(Box::new(candidate), steps)),
        }
    }

    pub(super) async fn ensure_admissible(
        &self,
        file: &str,
        candidate: &Capability,
        permits_older: bool,
    ) -> Result<(), LoadError> {
        let replaced = self.files.get(file).and_then(|known| known.serving.as_ref());
        let owner_of = |id: &str| {
            let mut files = self.files.iter();
            files
                .find(|(_, known)| known.serving.as_ref().is_some_and(|serving| &*serving.id == id))
                .map(|(file, _)| file.clone())
        };
        let replaced = replaced.map(|capability| &*capability.id);
        let capabilities = self.capabilities();
        let others = capabilities.values().map(|other| &**other);
        self.catalog.ensure_admissible(candidate, permits_older, others).await?;
        Snapshot::ensure_unique(&capabilities, candidate, owner_of, replaced)?;
        self.catalog.claim_names(candidate).await
    }

    pub(super) async fn make_ready(
        &self,
        mut candidate: Capability,
    ) -> Result<Arc<Capability>, LoadError> {
        let declared = &candidate.descriptor.collections;
        candidate.collections =
            self.catalog.store.declare_in_both_modes(&candidate.id, declared).await?;
        self.catalog.record_version(&candidate).await?;
        Ok(Arc::new(candidate))
    }
}
