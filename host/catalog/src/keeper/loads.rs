//! Loads files when they are complete, and settles the results.

use super::{
    admission::Admitted,
    state::{Keeper, LoadResult},
};
use crate::{capability::Capability, file::Fingerprint, load::load, refusal::LoadError};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a file that was not renamed into place must stay unchanged before it counts as complete.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// How long the host waits before it loads a file again that its disk or its own failure has kept from being loaded.
const RETRY_AFTER: Duration = Duration::from_secs(20);
/// The maximum number of files that are loaded concurrently.
pub(super) const CONCURRENT_LOADS: usize = 8;

impl Keeper {
    /// Compares what is in the folder with what is known, and begins the loads that follow.
    pub(super) fn compare(
        &mut self,
        present: &BTreeMap<String, Fingerprint>,
        renamed: &BTreeSet<String>,
    ) {
        let missing: Vec<_> =
            self.files.keys().filter(|file| !present.contains_key(*file)).cloned().collect();
        for file in missing {
            self.note_missing(&file);
        }
        for (file, fingerprint) in present {
            let known = self.files.entry(file.clone()).or_default();
            known.missing = None;
            let waits =
                known.retry_at.is_some_and(|(of, at)| of == *fingerprint && Instant::now() < at);
            if known.loading || waits {
                continue;
            }
            if known.handled == Some(*fingerprint) {
                known.changing = None;
                continue;
            }
            let unchanged_since = match known.changing {
                Some((changing, since)) if changing == *fingerprint => since,
                _ => Instant::now(),
            };
            known.changing = Some((*fingerprint, unchanged_since));
            let complete = renamed.contains(file) || unchanged_since.elapsed() >= DEBOUNCE;
            if complete && self.loads.len() < CONCURRENT_LOADS {
                self.begin_load(file, *fingerprint);
            }
        }
    }

    /// Removes a file's capability when the file has been missing for [`DEBOUNCE`]: a file that is being
    /// replaced can be missing for a moment.
    fn note_missing(&mut self, file: &str) {
        let Some(known) = self.files.get_mut(file) else {
            return;
        };
        let since = *known.missing.get_or_insert_with(Instant::now);
        if since.elapsed() < DEBOUNCE || known.loading {
            return;
        }
        if let Some(known) = self.files.remove(file)
            && let Some(old) = known.serving
        {
            self.record_change(Some(&old), None);
            self.retry_duplicates();
        }
    }

    pub(super) fn begin_load(&mut self, file: &str, fingerprint: Fingerprint) {
        let known = self.files.entry(file.to_owned()).or_default();
        known.loading = true;
        known.changing = None;
        known.migrating = None;
        let serving = known.serving.as_ref().map(|capability| capability.digest);
        let (catalog, file) = (Arc::clone(&self.catalog), file.to_owned());
        self.loads.spawn(async move {
            let name = file.clone();
            let task = tokio::spawn(async move { load(&catalog, &name, serving).await });
            // A panic of the host must not leave the file in the state of loading.
            let result =
                task.await.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
            (file, fingerprint, result)
        });
    }

    pub(super) async fn finish_load(&mut self, (file, fingerprint, result): LoadResult) {
        let permits_older = false;
        let admitted = match result {
            Err(LoadError::Changing) => {
                self.file_mut(&file).loading = false;
                return;
            }
            Ok(Some(capability)) if self.is_aborted(&capability) => {
                let Capability { id, descriptor, .. } = &capability;
                let (id, version) = (id.to_string(), descriptor.version.clone());
                Err(LoadError::ReleaseAborted { id, version })
            }
            Ok(Some(capability)) => match self.admit(&file, capability, permits_older).await {
                Ok(Admitted::Ready(capability)) => Ok(Some(capability)),
                Ok(Admitted::AfterMigration(capability, steps)) => {
                    self.begin_migration(file, Some(fingerprint), capability, steps);
                    return;
                }
                Err(error) => Err(error),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.settle_drop(&file, fingerprint, admitted);
    }

    pub(crate) fn settle(
        &mut self,
        file: &str,
        fingerprint: Fingerprint,
        admitted: Result<Option<Arc<Capability>>, LoadError>,
    ) {
        let known = self.file_mut(file);
        known.loading = false;
        // A failure of the host is not the file's fault, so the file is loaded again: at once after one of the
        // database, which is waited for, and otherwise later, because the file may have to be compiled again.
        let failure = admitted.as_ref().err().filter(|error| error.is_host_failure());
        let waits = failure.is_some_and(|error| !matches!(error, LoadError::Store(_)));
        known.retry_at = waits.then(|| (fingerprint, Instant::now() + RETRY_AFTER));
        known.handled = failure.is_none().then_some(fingerprint);
        match admitted {
            Ok(None) => known.refused = None,
            Ok(Some(capability)) => {
                let old = known.serving.replace(Arc::clone(&capability));
                known.refused = None;
                let renamed = old.as_ref().is_some_and(|old| old.id != capability.id);
                if renamed {
                    self.record_change(old.as_deref(), None);
                    self.record_change(None, Some(&capability));
                    self.retry_duplicates();
                } else {
                    self.record_change(old.as_deref(), Some(&capability));
                }
            }
            Err(error) => {
                tracing::warn!(
                    file,
                    reason = error.reason(),
                    "refused: {}; to fix it: {}",
                    error.message(),
                    error.fix()
                );
                for problem in error.problems() {
                    tracing::warn!(
                        file,
                        at = problem.at,
                        "{}; to fix it: {}",
                        problem.problem,
                        problem.fix
                    );
                }
                known.refused = Some(error);
            }
        }
    }

    /// Loads files again that were refused because of an id or a tool name, when one has become free.
    fn retry_duplicates(&mut self) {
        for known in self.files.values_mut() {
            if matches!(
                known.refused,
                Some(LoadError::DuplicateId { .. } | LoadError::DuplicateToolName { .. })
            ) {
                known.handled = None;
            }
        }
        self.unapplied.retain(|_, unapplied| !unapplied.can_be_resolved());
    }
}
