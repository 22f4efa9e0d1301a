//! Migrates documents before a component that needs another form of them serves.

use super::state::{Keeper, Migrating, MigrationResult};
use crate::{
    capability::Capability,
    file::Fingerprint,
    migration::{Progress, Step},
    refusal::LoadError,
    status::MigrationStatus,
};
use portolan_store::Generation;
use std::sync::Arc;
use tokio::task::JoinError;

impl Keeper {
    pub(crate) fn begin_migration(
        &mut self,
        file: String,
        fingerprint: Option<Fingerprint>,
        candidate: Box<Capability>,
        steps: Vec<Step>,
    ) {
        let (id, progress) = (Arc::clone(&candidate.id), Arc::new(Progress::new(&steps)));
        for status in progress.statuses(&file, &id) {
            let MigrationStatus { collection, from, to, documents, .. } = status;
            tracing::info!(%id, collection, from, to, documents, "migrating documents");
        }
        let (catalog, counted) = (Arc::clone(&self.catalog), Arc::clone(&progress));
        let name = file.clone();
        let abort = self.migrations.spawn(async move {
            let migrated = catalog.migrate(&candidate, &steps, &counted).await;
            (name, fingerprint, candidate, migrated)
        });
        let known = self.file_mut(&file);
        known.loading = false;
        known.handled = fingerprint;
        known.refused = None;
        known.migrating = Some(Migrating { id, progress, abort });
    }

    pub(super) async fn finish_migration(&mut self, result: Result<MigrationResult, JoinError>) {
        // A migration is cancelled when its file changes.
        let Ok((file, fingerprint, candidate, migrated)) = result else { return };
        let installing = self.file_mut(&file).installing.take();
        let permits_older =
            installing.as_ref().is_some_and(|installing| installing.cause.permits_older());
        let serving = match migrated {
            Ok(generations) => {
                self.switch(&file, *candidate, &generations, permits_older).await.map(Some)
            }
            Err(error) => Err(error),
        };
        self.file_mut(&file).migrating = None;
        match (installing, fingerprint) {
            (Some(installing), _) => {
                self.file_mut(&file).loading = false;
                self.finish_install(&file, *installing, serving).await;
            }
            (None, Some(fingerprint)) => self.settle_drop(&file, fingerprint, serving),
            (None, None) => {}
        }
        // Calls that use the replaced collections wait for the next snapshot.
        self.publish().await;
    }

    async fn switch(
        &self,
        file: &str,
        candidate: Capability,
        generations: &[Generation],
        permits_older: bool,
    ) -> Result<Arc<Capability>, LoadError> {
        let switched = async {
            self.ensure_admissible(file, &candidate, permits_older).await?;
            self.catalog.complete_migration(&candidate, generations).await
        };
        if let Err(error) = switched.await {
            self.catalog.store.abandon_generations(generations).await?;
            return Err(error);
        }
        self.make_ready(candidate).await
    }
}
