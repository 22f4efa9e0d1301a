//! The migration of stored documents, before a component with another version of their form serves.
//!
//! The component's internal action `migrate` gets the documents, some at a time, in a sandbox without any
//! service. The store keeps the outcome in another generation of the collection; see `Generation`. Where only the
//! indexes differ, the documents are copied as they are.

use crate::{
    capability::Capability,
    catalog::Catalog,
    migrate_action::{ACTION, Purpose},
    refusal::LoadError,
    status::MigrationStatus,
};
use portolan_store::{DbError, Generation, Migrated, OldDocument, Outdated};
use portolan_vocabulary::{Access, Timestamp};
use serde_json::Value;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The number of bytes of the documents that a component gets at once, so that its answer stays within the
/// limit.
const CHUNK_BYTES: usize = 256 << 10;
/// The maximum number of changes that may be left when calls begin to wait for them to be followed.
const LAST_CHANGES: u64 = 200;
/// The maximum time for which calls wait while the last changes are followed.
const FENCE_TIME: Duration = Duration::from_secs(2);
/// The number of passes in a row after which a migration fails, if each of them has found more than
/// `LAST_CHANGES` documents with unique values that other documents have. Each pass frees the values that
/// documents no longer have.
const MAX_CONFLICT_PASSES: usize = 3;
/// The number of passes that follow the changes while writes go on. Later passes make writes wait.
const UNFENCED_PASSES: usize = 5;
/// How long writes wait in each later pass.
const WRITE_PAUSE: Duration = Duration::from_millis(500);
/// The maximum number of attempts to follow the last changes while calls wait.
const ATTEMPTS: usize = 3;

/// The step that brings one collection to its new generation.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Migrate(Outdated),
    /// The generation before the serving one serves again, because nothing was written since it was
    /// replaced.
    Revive(Generation),
}

/// The progress of a migration, for the operator.
#[derive(Debug)]
pub(super) struct Progress {
    collections: Vec<(Outdated, AtomicU64)>,
}

impl Progress {
    pub(super) fn new(steps: &[Step]) -> Self {
        let migrated = steps.iter().filter_map(|step| match step {
            Step::Migrate(outdated) => Some((outdated.clone(), AtomicU64::new(0))),
            Step::Revive(_) => None,
        });
        Self { collections: migrated.collect() }
    }

    pub(super) fn statuses(&self, file: &str, id: &str) -> Vec<MigrationStatus> {
        let status = |(outdated, migrated): &(Outdated, AtomicU64)| MigrationStatus {
            file: file.to_owned(),
            id: id.to_owned(),
            collection: outdated.declared.name.clone(),
            test_mode: outdated.test_mode(),
            from: outdated.version,
            to: outdated.declared.version,
            documents: outdated.documents,
            migrated: migrated.load(Ordering::Relaxed),
        };
        self.collections.iter().map(status).collect()
    }

    fn add(&self, generation: &Generation, documents: usize) {
        let is_counted = |(outdated, _): &&(Outdated, AtomicU64)| {
            outdated.declared.name == generation.collection
                && outdated.test_mode() == generation.test_mode
        };
        if let Some((_, migrated)) = self.collections.iter().find(is_counted) {
            migrated.fetch_add(documents as u64, Ordering::Relaxed);
        }
    }
}

impl Catalog {
    /// Returns what must be done before a component can use its collections; nothing if the documents have
    /// the version and the indexes that it declares.
    pub(super) async fn migration_steps(
        &self,
        candidate: &Capability,
    ) -> Result<Vec<Step>, LoadError> {
        let collections = &candidate.descriptor.collections;
        let outdated = self.store.outdated(&candidate.id, collections).await?;
        let migrates = candidate
            .action(ACTION)
            .is_some_and(|action| action.descriptor.access == Access::Internal);
        let mut steps = Vec::new();
        for outdated in outdated {
            let written = match self.store.find_revivable(&outdated).await? {
                Some(Ok(generation)) => {
                    steps.push(Step::Revive(generation));
                    continue;
                }
                Some(Err(written)) => Some(written),
                None => None,
            };
            if outdated.documents > 0 && !migrates && !outdated.reindexes {
                return Err(LoadError::OtherVersion {
                    collection: outdated.declared.name,
                    documents: outdated.documents,
                    stored: outdated.version,
                    declared: outdated.declared.version,
                    written,
                });
            }
            steps.push(Step::Migrate(outdated));
        }
        Ok(steps)
    }

    /// Migrates all documents of a component's collections into new generations, except the last changes,
    /// while the present generations serve.
    pub(super) async fn migrate(
        &self,
        candidate: &Capability,
        steps: &[Step],
        progress: &Progress,
    ) -> Result<Vec<Generation>, LoadError> {
        for step in steps {
            if let Step::Migrate(outdated) = step
                && !outdated.reindexes
            {
                self.check_sample(candidate, outdated).await?;
            }
        }
        let mut generations = Vec::new();
        let filled = self.fill_generations(candidate, steps, progress, &mut generations).await;
        if filled.is_err() {
            self.store.abandon_generations(&generations).await?;
        }
        filled.map(|()| generations)
    }

    /// Refuses a component that cannot migrate more than half of the documents of a sample.
    async fn check_sample(
        &self,
        candidate: &Capability,
        outdated: &Outdated,
    ) -> Result<(), LoadError> {
        let sample = self.store.sample_documents(outdated, CHUNK_BYTES).await?;
        let tried = sample.len();
        let purpose = Purpose::of(outdated);
        let migrated = self.migrate_documents(candidate, &purpose, sample).await;
        let faults: Vec<String> = migrated
            .into_iter()
            .filter_map(|(document, migrated)| {
                migrated.and_then(|value| outdated.check_document(&document.id, &value)).err()
            })
            .collect();
        match faults.first() {
            Some(reason) if faults.len() * 2 > tried => Err(LoadError::MigrationFails {
                collection: outdated.declared.name.clone(),
                failed: faults.len(),
                tried,
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
    }

    async fn fill_generations(
        &self,
        candidate: &Capability,
        steps: &[Step],
        progress: &Progress,
        generations: &mut Vec<Generation>,
    ) -> Result<(), LoadError> {
        let migrated_by = candidate.digest.hex();
        for step in steps {
            generations.push(match step {
                Step::Revive(generation) => generation.clone(),
                Step::Migrate(outdated) => {
                    let begun = self.store.begin_generation(outdated, &migrated_by).await?;
                    let replaced = || DbError::GenerationReplaced(outdated.declared.name.clone());
                    begun.ok_or_else(replaced)?
                }
            });
        }
        for generation in generations.iter() {
            self.copy(candidate, generation, progress).await?;
        }
        for generation in generations.iter() {
            self.catch_up(candidate, generation).await?;
        }
        Ok(())
    }

    /// Follows changes until at most [`LAST_CHANGES`] are left. Refuses a component if more than that many of
    /// its migrated documents have unique values of other documents in each of [`MAX_CONFLICT_PASSES`] passes
    /// in a row. A unique value that moves between documents causes a conflict only for a short time, so
    /// conflicts that stay are real.
    async fn catch_up(
        &self,
        candidate: &Capability,
        generation: &Generation,
    ) -> Result<(), LoadError> {
        let (mut passes, mut passes_with_conflicts) = (0, 0);
        while self.store.count_changes(generation).await? > LAST_CHANGES {
            let pass = match passes < UNFENCED_PASSES {
                true => self.unfenced_pass(candidate, generation).await?,
                false => self.fenced_pass(candidate, generation).await?,
            };
            passes += 1;
            let conflicts = pass.conflicts.len();
            passes_with_conflicts =
                if conflicts as u64 > LAST_CHANGES { passes_with_conflicts + 1 } else { 0 };
            if passes_with_conflicts == MAX_CONFLICT_PASSES && generation.reindexes {
                return Err(DbError::NotUnique(generation.collection.clone()).into());
            }
            if passes_with_conflicts == MAX_CONFLICT_PASSES {
                return Err(LoadError::MigrationConflicts {
                    collection: generation.collection.clone(),
                    documents: conflicts,
                    example: pass.conflicts.into_iter().next().unwrap_or_default(),
                });
            }
        }
        Ok(())
    }

    /// Follows each of the present changes once.
    async fn unfenced_pass(
        &self,
        candidate: &Capability,
        generation: &Generation,
    ) -> Result<Followed, LoadError> {
        let mut all = Followed { last: None, conflicts: Vec::new() };
        loop {
            let started = Instant::now();
            let after = all.last.clone().unwrap_or_default();
            let followed = self.follow(candidate, generation, &after, false).await?;
            if followed.last.is_none() {
                return Ok(all);
            }
            all.last = followed.last;
            all.conflicts.extend(followed.conflicts);
            // Half of the time is left to calls.
            tokio::time::sleep(started.elapsed()).await;
        }
    }

    /// Follows changes while writes to the collection wait for [`WRITE_PAUSE`]: writes came faster than they
    /// could be followed.
    async fn fenced_pass(
        &self,
        candidate: &Capability,
        generation: &Generation,
    ) -> Result<Followed, LoadError> {
        let (clock, fenced) = (&self.options.clock, std::slice::from_ref(generation));
        let started = Instant::now();
        self.store.fence(fenced, clock.now().plus(WRITE_PAUSE * 2)).await?;
        let mut all = Followed { last: None, conflicts: Vec::new() };
        while started.elapsed() < WRITE_PAUSE {
            let after = all.last.clone().unwrap_or_default();
            let followed = self.follow(candidate, generation, &after, false).await?;
            if followed.last.is_none() {
                break;
            }
            all.last = followed.last;
            all.conflicts.extend(followed.conflicts);
        }
        self.store.fence(fenced, clock.now()).await?;
        tokio::time::sleep(started.elapsed() / 4).await;
        Ok(all)
    }

    async fn copy(
        &self,
        candidate: &Capability,
        generation: &Generation,
        progress: &Progress,
    ) -> Result<(), LoadError> {
        while let Some((after, documents)) =
            self.store.next_documents(generation, CHUNK_BYTES).await?
        {
            let started = Instant::now();
            let count = documents.len();
            let migrated = self.migrate_changed(candidate, generation, documents).await;
            let now = self.options.clock.now();
            if self.store.copy_documents(generation, after, migrated, now).await? {
                progress.add(generation, count);
            }
            // Half of the time is left to calls.
            tokio::time::sleep(started.elapsed()).await;
        }
        Ok(())
    }

    /// Migrates the next changed documents whose ids follow the id `after`. With `last`, a document whose
    /// unique value another one has is quarantined; otherwise it is one of the conflicts.
    async fn follow(
        &self,
        candidate: &Capability,
        generation: &Generation,
        after: &str,
        last: bool,
    ) -> Result<Followed, LoadError> {
        let changed = self.store.changed_documents(generation, after, CHUNK_BYTES).await?;
        let last_id = changed.last().map(|document| document.id.clone());
        let migrated = self.migrate_changed(candidate, generation, changed).await;
        let now = self.options.clock.now();
        let conflicts = self.store.follow_changes(generation, migrated, last, now).await?;
        Ok(Followed { last: last_id, conflicts })
    }

    /// Migrates the last changes while calls wait, and lets the new generations serve.
    pub(super) async fn complete_migration(
        &self,
        candidate: &Capability,
        generations: &[Generation],
    ) -> Result<(), LoadError> {
        let clock = &self.options.clock;
        for _ in 0..ATTEMPTS {
            // Longer than the time-out, so that the fence ends by itself only after a crash.
            let until = clock.now().as_millis() + FENCE_TIME.as_millis() as u64 * 2;
            self.store.fence(generations, Timestamp::from_millis(until)).await?;
            let followed = self.follow_all(candidate, generations);
            match tokio::time::timeout(FENCE_TIME, followed).await {
                Ok(followed) => followed?,
                Err(_elapsed) => {
                    self.store.fence(generations, clock.now()).await?;
                    continue;
                }
            }
            if self.store.switch(generations, clock.now()).await? {
                return Ok(());
            }
        }
        let collection = generations.first().map(|generation| generation.collection.clone());
        Err(DbError::GenerationReplaced(collection.unwrap_or_default()).into())
    }

    async fn follow_all(
        &self,
        candidate: &Capability,
        generations: &[Generation],
    ) -> Result<(), LoadError> {
        for generation in generations {
            let mut left = self.store.count_changes(generation).await?;
            while left > 0 {
                self.follow(candidate, generation, "", false).await?;
                let remaining = self.store.count_changes(generation).await?;
                if remaining == left {
                    // Only documents whose unique values other documents have are left.
                    self.follow(candidate, generation, "", true).await?;
                }
                left = self.store.count_changes(generation).await?;
            }
        }
        Ok(())
    }

    /// Returns the documents, each with its migrated body, or with the reason why it cannot be migrated.
    async fn migrate_changed(
        &self,
        candidate: &Capability,
        generation: &Generation,
        documents: Vec<OldDocument>,
    ) -> Vec<Migrated> {
        if generation.reindexes {
            // The store copies the bodies as they are.
            return documents.into_iter().map(|document| (document, Ok(Value::Null))).collect();
        }
        self.migrate_documents(candidate, &Purpose::from(generation), documents).await
    }
}

/// Changes that were followed.
struct Followed {
    /// The last id of a changed document; `None` if there was no change.
    last: Option<String>,
    /// The ids of the documents whose unique values other documents have.
    conflicts: Vec<String>,
}
