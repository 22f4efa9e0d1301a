//! The migration of stored documents, before a component with another version of their form serves.
//!
//! The component's internal action `migrate` gets the documents, some at a time, in a sandbox without any
//! service. The store keeps the outcome in another generation of the collection; see `Generation`.

use crate::{
    capability::Capability, catalog::Catalog, refusal::LoadError, status::MigrationStatus,
};
use portolan_sandbox::{
    CallContext, GuestAnswer, HostServices, NestedCall, NestedCallFuture, Work,
};
use portolan_store::{DbError, Generation, Migrated, OldDocument, Outdated, Unit};
use portolan_vocabulary::{Access, Caller, Timestamp, new_request_id};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The action that migrates documents.
const ACTION: &str = "migrate";
/// The bytes of the documents that a component gets at once: its answer must stay within its limit.
const CHUNK_BYTES: usize = 256 << 10;
/// The maximum number of changes that are left to be followed while calls wait.
const LAST_CHANGES: u64 = 200;
/// The maximum time for which calls wait while the last changes are followed.
const FENCE: Duration = Duration::from_secs(2);
/// How often more documents than that may be found with unique values that others have: each pass frees the
/// values that documents no longer have.
const PASSES: usize = 3;
/// How often the last changes are tried.
const ATTEMPTS: usize = 3;

/// What is to be done with one collection.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Migrate(Outdated),
    /// The generation before the serving one serves again, because nothing was written since.
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
        let of = |(outdated, _): &&(Outdated, AtomicU64)| {
            outdated.declared.name == generation.collection
                && outdated.test_mode() == generation.test_mode
        };
        if let Some((_, migrated)) = self.collections.iter().find(of) {
            migrated.fetch_add(documents as u64, Ordering::Relaxed);
        }
    }
}

impl Catalog {
    /// Returns what must be done before a component can use its collections; nothing if the documents have
    /// the version that it declares.
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
            let written = match self.store.revivable(&outdated).await? {
                Some(Ok(generation)) => {
                    steps.push(Step::Revive(generation));
                    continue;
                }
                Some(Err(written)) => Some(written),
                None => None,
            };
            if outdated.documents > 0 && !migrates {
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

    /// Migrates all documents of a component's collections but the last changes, while others serve them.
    pub(super) async fn migrate(
        &self,
        candidate: &Capability,
        steps: &[Step],
        progress: &Progress,
    ) -> Result<Vec<Generation>, LoadError> {
        for step in steps {
            if let Step::Migrate(outdated) = step {
                self.try_sample(candidate, outdated).await?;
            }
        }
        let mut generations = Vec::new();
        let filled = self.fill(candidate, steps, progress, &mut generations).await;
        if filled.is_err() {
            self.store.give_up_generations(&generations).await?;
        }
        filled.map(|()| generations)
    }

    /// Refuses a component that cannot migrate most documents of a sample.
    async fn try_sample(
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
                migrated.and_then(|value| outdated.check(&document.id, &value)).err()
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

    async fn fill(
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
            self.follow_while_many(candidate, generation).await?;
        }
        Ok(())
    }

    /// Follows changes until few are left. Refuses a component whose migrated documents have unique values
    /// in common: after a few passes, these are no values that pass from one document to another.
    async fn follow_while_many(
        &self,
        candidate: &Capability,
        generation: &Generation,
    ) -> Result<(), LoadError> {
        let mut passes_with_conflicts = 0;
        while self.store.count_changes(generation).await? > LAST_CHANGES {
            let (mut after, mut conflicts, mut example) = (String::new(), 0, None);
            loop {
                let started = Instant::now();
                let followed = self.follow(candidate, generation, &after, false).await?;
                let Some(last) = followed.last else { break };
                after = last;
                conflicts += followed.conflicts.len();
                example = example.or_else(|| followed.conflicts.into_iter().next());
                // Half of the time is for calls.
                tokio::time::sleep(started.elapsed()).await;
            }
            passes_with_conflicts =
                if conflicts as u64 > LAST_CHANGES { passes_with_conflicts + 1 } else { 0 };
            if passes_with_conflicts == PASSES {
                return Err(LoadError::MigrationConflicts {
                    collection: generation.collection.clone(),
                    documents: conflicts,
                    example: example.unwrap_or_default(),
                });
            }
        }
        Ok(())
    }

    async fn copy(
        &self,
        candidate: &Capability,
        generation: &Generation,
        progress: &Progress,
    ) -> Result<(), LoadError> {
        let purpose = Purpose::from(generation);
        while let Some((after, documents)) =
            self.store.next_documents(generation, CHUNK_BYTES).await?
        {
            let started = Instant::now();
            let count = documents.len();
            let migrated = self.migrate_documents(candidate, &purpose, documents).await;
            let now = self.options.clock.now();
            if self.store.copy_documents(generation, after, migrated, now).await? {
                progress.add(generation, count);
            }
            // Half of the time is for calls.
            tokio::time::sleep(started.elapsed()).await;
        }
        Ok(())
    }

    /// Migrates changed documents whose ids follow the id `after`.
    async fn follow(
        &self,
        candidate: &Capability,
        generation: &Generation,
        after: &str,
        last: bool,
    ) -> Result<Followed, LoadError> {
        let changed = self.store.changed_documents(generation, after, CHUNK_BYTES).await?;
        let last_id = changed.last().map(|document| document.id.clone());
        let purpose = Purpose::from(generation);
        let migrated = self.migrate_documents(candidate, &purpose, changed).await;
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
            let until = clock.now().as_millis() + FENCE.as_millis() as u64 * 2;
            self.store.fence(generations, Timestamp::from_millis(until)).await?;
            let followed = self.follow_all(candidate, generations);
            match tokio::time::timeout(FENCE, followed).await {
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
                let now_left = self.store.count_changes(generation).await?;
                if now_left == left {
                    // Only documents whose unique values others have.
                    self.follow(candidate, generation, "", true).await?;
                }
                left = self.store.count_changes(generation).await?;
            }
        }
        Ok(())
    }

    /// Runs the action over documents. A part that fails is tried in halves, so that one document's error
    /// is not that of others.
    async fn migrate_documents(
        &self,
        candidate: &Capability,
        purpose: &Purpose<'_>,
        documents: Vec<OldDocument>,
    ) -> Vec<Migrated> {
        let mut migrated = Vec::new();
        let mut parts = vec![documents];
        while let Some(mut part) = parts.pop() {
            match self.call_migrate(candidate, purpose, &part).await {
                Ok(mut bodies) => migrated.extend(part.into_iter().map(|document| {
                    let outcome = match (document.body(), bodies.remove(&document.id)) {
                        (None, _) => Ok(Value::Null),
                        (Some(_), Some(outcome)) => outcome,
                        (Some(_), None) => Err("the action migrate left it out".to_owned()),
                    };
                    (document, outcome)
                })),
                Err(reason) if part.len() == 1 => {
                    migrated.extend(part.pop().map(|document| (document, Err(reason))));
                }
                Err(_) => {
                    let second = part.split_off(part.len() / 2);
                    parts.extend([second, part]);
                }
            }
        }
        migrated
    }

    /// Runs the action once, and returns the new body of each document, or why there is none.
    async fn call_migrate(
        &self,
        candidate: &Capability,
        purpose: &Purpose<'_>,
        documents: &[OldDocument],
    ) -> Result<BTreeMap<String, Result<Value, String>>, String> {
        let bodies = documents.iter().filter_map(|document| {
            let body: Value = serde_json::from_str(document.body()?).unwrap_or_default();
            Some(json!({ "id": document.id, "document": body }))
        });
        let bodies: Vec<Value> = bodies.collect();
        if bodies.is_empty() {
            return Ok(BTreeMap::new());
        }
        let input = json!({
            "collection": purpose.collection,
            "from": purpose.from,
            "to": purpose.to,
            "documents": bodies,
        });
        let now = self.options.clock.now();
        let caller = Caller::System { test_mode: purpose.test_mode };
        let platform = Arc::clone(&self.snapshot().platform);
        let context = Arc::new(CallContext::new(caller, now, new_request_id(now), platform));
        let work = Work {
            unit: Unit::new(self.store.clone(), now),
            collections: Arc::default(),
            read_only: true,
            services: Arc::new(NoServices),
        };
        let permit = self.sandbox.permit(&candidate.prepared).await;
        let _permit = permit.map_err(|error| error.to_string())?;
        let (prepared, input) = (&candidate.prepared, input.to_string());
        let run = self.sandbox.run(prepared, &candidate.id, &context, (ACTION, &input), work);
        let (answer, _work) = run.await;
        match answer.map_err(|error| error.to_string())? {
            GuestAnswer::Success { output, .. } => {
                let output: Output = serde_json::from_str(&output)
                    .map_err(|error| format!("the answer of the action migrate: {error}"))?;
                Ok(output.documents.into_iter().map(NewDocument::outcome).collect())
            }
            GuestAnswer::Refused { code, message, .. } => Err(format!("{code}: {message}")),
        }
    }
}

/// Changes that were followed.
struct Followed {
    /// The last id; none if there was no change.
    last: Option<String>,
    /// The documents whose unique values others have.
    conflicts: Vec<String>,
}

/// What documents are migrated for.
struct Purpose<'a> {
    collection: &'a str,
    test_mode: bool,
    from: u32,
    to: u32,
}

impl<'a> Purpose<'a> {
    fn of(outdated: &'a Outdated) -> Self {
        Self {
            collection: &outdated.declared.name,
            test_mode: outdated.test_mode(),
            from: outdated.version,
            to: outdated.declared.version,
        }
    }
}

impl<'a> From<&'a Generation> for Purpose<'a> {
    fn from(generation: &'a Generation) -> Self {
        Self {
            collection: &generation.collection,
            test_mode: generation.test_mode,
            from: generation.from_version,
            to: generation.to_version,
        }
    }
}

#[derive(Deserialize)]
struct Output {
    documents: Vec<NewDocument>,
}

#[derive(Deserialize)]
struct NewDocument {
    id: String,
    document: Option<Value>,
    error: Option<String>,
}

impl NewDocument {
    fn outcome(self) -> (String, Result<Value, String>) {
        let none = || "the action migrate gave neither a document nor an error".to_owned();
        let outcome = match (self.error, self.document) {
            (Some(error), _) => Err(error),
            (None, document) => document.ok_or_else(none),
        };
        (self.id, outcome)
    }
}

/// The services of a component that migrates: none.
#[derive(Debug)]
struct NoServices;

const NONE: &str = "the action migrate has no services";

impl HostServices for NoServices {
    fn check_event(&self, _: &str) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    fn subscribers(&self, _: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    fn check_timer(&self, _: &str, _: String) -> Result<String, String> {
        Err(NONE.to_owned())
    }

    fn call(self: Arc<Self>, nested: NestedCall) -> NestedCallFuture {
        let refused = GuestAnswer::Refused {
            code: "not_permitted".to_owned(),
            message: NONE.to_owned(),
            conflict: None,
            next: None,
            keep_writes: false,
        };
        Box::pin(async move { (refused, Some(nested.work)) })
    }
}
