//! The keeper installs a component: it is admitted like a file of the folder, recorded as the desired
//! version, and written into the folder in one rename.
//!
//! A refused component leaves nothing behind, unless it only waits for a permission. After a crash between
//! the record and the rename, the node finds that it has not installed the desired version, and installs it
//! at its start.

use crate::{
    breaking::find_breaking_changes,
    capability::Capability,
    file::Fingerprint,
    keeper::{Admitted, Keeper},
    publishing::{
        BreakingPolicy, Cause, Installation, Installing, PublishError, Published, PublishedState,
        Requested, Unapplied,
    },
    refusal::LoadError,
};
use portolan_store::{Arrival, VersionRecord, VersionState};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::Arc,
};
use tempfile::NamedTempFile;

impl Keeper {
    /// Installs a component, or begins to migrate the documents for it, or reports why not. While a load or
    /// a migration of the component's file runs, the installation is postponed.
    pub(super) async fn install(&mut self, installation: Installation) {
        let Installation { capability, content, file, cause } = installation;
        let file = match self.target_file(&capability, file) {
            Ok(file) => file,
            Err(error) => return self.fail(cause, error.into()),
        };
        if self.files.get(&file).is_some_and(|known| known.loading || known.migrating.is_some()) {
            return self.postponed.push(Installation { capability, content, file, cause });
        }
        let serving = self.find_serving(&capability.id);
        let (record, published) = self.compare_with(serving.as_deref(), &capability, &file);
        let installing = Installing { content, cause, record, published };
        if let Cause::Requested(Requested { arrival: Arrival::Published, .. }) = installing.cause
            && let Err(error) = self.ensure_compatible(serving.as_deref(), &capability)
        {
            return self.fail(installing.cause, error);
        }
        // The same content in another file is of another publisher if it is not signed.
        let is_same = |serving: &Arc<Capability>| {
            serving.digest == capability.digest && serving.publisher == capability.publisher
        };
        if let Some(serving) = serving.filter(is_same) {
            return self.finish_install(&file, installing, Ok(Some(serving))).await;
        }
        match self.admit(&file, capability, installing.cause.permits_older()).await {
            Ok(Admitted::Ready(capability)) => {
                self.finish_install(&file, installing, Ok(Some(capability))).await;
            }
            Ok(Admitted::AfterMigration(candidate, steps)) => {
                let handled = self.files.get(&file).and_then(|known| known.handled);
                self.begin_migration(file.clone(), handled, candidate, steps);
                // Until the migration ends, a change of the file in the folder waits.
                self.file_mut(&file).loading = true;
                if let Cause::Recorded(desired) = &installing.cause {
                    self.end_attempt(desired.seq);
                }
                self.file_mut(&file).installing = Some(Box::new(installing));
            }
            Err(error) => self.refuse_install(installing, error).await,
        }
    }

    /// Ends an installation whose component may serve, or was refused after a migration.
    pub(super) async fn finish_install(
        &mut self,
        file: &str,
        installing: Installing,
        admitted: Result<Option<Arc<Capability>>, LoadError>,
    ) {
        let capability = match admitted {
            Ok(Some(capability)) => capability,
            Ok(None) => return,
            Err(error) => return self.refuse_install(installing, error).await,
        };
        let Installing { content, cause, record, mut published } = installing;
        let (fingerprint, is_new) = match self.write_version(file, &record, content, &cause).await {
            Ok(put) => put,
            Err(error) => return self.fail(cause, error),
        };
        let serves_already = self
            .file_mut(file)
            .serving
            .as_ref()
            .is_some_and(|serving| Arc::ptr_eq(serving, &capability));
        let settled = if serves_already { None } else { Some(capability) };
        self.settle(file, fingerprint, Ok(settled));
        self.unapplied.remove(&record.capability_id);
        match cause {
            Cause::Requested(requested) => {
                if !is_new {
                    published.state = PublishedState::Unchanged;
                }
                self.replies.push((requested.reply, Ok(published)));
            }
            Cause::Recorded(desired) => self.end_fetch(&desired),
        }
    }

    /// Returns the name of the component's file in the folder. A signed component replaces the file that
    /// serves its id. `FileTaken` if the file serves another id.
    fn target_file(&self, capability: &Capability, file: String) -> Result<String, LoadError> {
        let serves = |id: &str| {
            let mut files = self.files.iter();
            let has_id = |known: &Arc<Capability>| &*known.id == id;
            files
                .find(|(_, known)| known.serving.as_ref().is_some_and(has_id))
                .map(|(file, _)| file)
        };
        if capability.publisher.is_key()
            && let Some(serving) = serves(&capability.id)
        {
            return Ok(serving.clone());
        }
        let occupant = self.files.get(&file).and_then(|known| known.serving.as_ref());
        match occupant.filter(|occupant| occupant.id != capability.id) {
            Some(occupant) => Err(LoadError::FileTaken { id: occupant.id.to_string(), file }),
            None => Ok(file),
        }
    }

    fn find_serving(&self, id: &str) -> Option<Arc<Capability>> {
        let mut serving = self.files.values().filter_map(|known| known.serving.as_ref());
        serving.find(|serving| &*serving.id == id).cloned()
    }

    /// Returns the entry of the history and the answer for a component that replaces the serving one.
    fn compare_with(
        &self,
        serving: Option<&Capability>,
        capability: &Capability,
        file: &str,
    ) -> (VersionRecord, Published) {
        let changes =
            serving.map(|old| find_breaking_changes(&old.descriptor, &capability.descriptor));
        let changes = changes.into_iter().flatten();
        let breaking: Vec<_> =
            changes.map(|change| format!("{} {}", change.at, change.problem)).collect();
        let version = capability.descriptor.version.clone();
        let published = Published {
            id: capability.id.to_string(),
            version: version.clone(),
            digest: capability.digest,
            publisher: capability.publisher.to_string(),
            file: file.to_owned(),
            state: PublishedState::Serving,
            replaced: serving
                .filter(|old| old.digest != capability.digest)
                .map(|old| old.descriptor.version.clone()),
            breaking: breaking.clone(),
            missing: Vec::new(),
        };
        let record = VersionRecord {
            capability_id: capability.id.to_string(),
            version,
            digest: capability.digest.to_string(),
            publisher: capability.publisher.to_string(),
            bytes: capability.size,
            arrival: Arrival::Published,
            file: file.to_owned(),
            source: String::new(),
            decided_by: None,
            at: self.catalog.options.clock.now(),
            breaking,
            state: VersionState::Accepted,
        };
        (record, published)
    }

    /// Refuses a version that breaks callers of the serving one, unless its major version is higher or the
    /// operator allows it.
    fn ensure_compatible(
        &self,
        serving: Option<&Capability>,
        capability: &Capability,
    ) -> Result<(), PublishError> {
        let Some(old) = serving else { return Ok(()) };
        let is_allowed = self.catalog.options.publishing.breaking == BreakingPolicy::Allow;
        if is_allowed || capability.major_version() > old.major_version() {
            return Ok(());
        }
        let changes = find_breaking_changes(&old.descriptor, &capability.descriptor);
        match changes.is_empty() {
            true => Ok(()),
            false => Err(PublishError::Breaking {
                version: capability.descriptor.version.clone(),
                replaced: old.descriptor.version.clone(),
                next_major: old.major_version() + 1,
                changes,
            }),
        }
    }

    /// Writes the component to a temporary file, records the version, and renames the file into place.
    /// Returns the fingerprint of the file, and `false` if the operator requested a version that this node
    /// has already installed as the desired one. The version of a release is recorded in any case, because its
    /// release ends with the record.
    async fn write_version(
        &mut self,
        file: &str,
        record: &VersionRecord,
        content: Vec<u8>,
        cause: &Cause,
    ) -> Result<(Fingerprint, bool), PublishError> {
        let folder = self.catalog.options.folder.clone();
        let name = file.to_owned();
        let (unfinished, content) = blocking(move || {
            let unfinished = write_temporary_file(&folder, &name, &content)?;
            Ok((unfinished, content))
        })
        .await?;
        let store = &self.catalog.store;
        let (seq, is_new) = match cause {
            Cause::Recorded(desired) => {
                if desired.state == VersionState::PendingApproval {
                    store.accept_version(desired.seq).await?;
                }
                (desired.seq, true)
            }
            Cause::Requested(requested) => {
                let desired = store.desired_versions().await?;
                let installed = desired.into_iter().find(|desired| {
                    desired.capability_id == record.capability_id
                        && desired.digest == record.digest
                        && desired.state == VersionState::Accepted
                        && self.note.has_installed(desired)
                        && requested.promotion.is_none()
                });
                match installed {
                    Some(desired) => (desired.seq, false),
                    None => (self.record(requested, record, &content).await?, true),
                }
            }
        };
        if cause.permits_older() {
            self.catalog.lower_version(record).await?;
        }
        let (folder, name) = (self.catalog.options.folder.clone(), file.to_owned());
        let fingerprint = blocking(move || persist_file(unfinished, &folder, &name)).await?;
        if let Err(error) = self.note.record_installed(&record.capability_id, seq, &record.digest) {
            tracing::warn!(%error, "the note of installed versions cannot be written; they are installed again at the next start");
        }
        Ok((fingerprint, is_new))
    }

    /// Records a version that the operator has requested, with its content, and the decision in the audit
    /// log. Returns the number of the version's entry; `NoRelease` if it is that of a release that does not run.
    async fn record(
        &self,
        requested: &Requested,
        record: &VersionRecord,
        content: &[u8],
    ) -> Result<i64, PublishError> {
        let record = VersionRecord {
            arrival: requested.arrival,
            source: requested.source.clone(),
            decided_by: Some(requested.decider.name.clone()),
            ..record.clone()
        };
        let keep = self.catalog.options.publishing.keep;
        let promotion = requested.promotion.as_ref();
        let store = &self.catalog.store;
        let Some(seq) = store.add_version(&record, Some(content), keep, promotion).await? else {
            // It was about to serve, so its version may be recorded as the highest one.
            if let Some(serving) = self.find_serving(&record.capability_id) {
                let (from, to) = (record.version.as_str(), serving.descriptor.version.as_str());
                store.put_highest_version(&record.capability_id, Some(from), Some(to)).await?;
            }
            return Err(PublishError::NoRelease(record.capability_id));
        };
        let decision = requested.decision;
        let operator = requested.decider.operator.as_ref();
        let about = (&*record.capability_id, &*record.version, &*record.digest);
        let recorded = self.catalog.record_version_decision(about, decision, operator).await;
        if let Err(error) = recorded {
            tracing::error!(%error, decision, id = record.capability_id, "a decision is not in the audit log");
        }
        Ok(seq)
    }

    /// Ends an installation whose component is refused. A requested version that only lacks permissions is
    /// recorded, and waits for them.
    async fn refuse_install(&mut self, installing: Installing, error: LoadError) {
        let Installing { content, cause, record, published } = installing;
        let (Cause::Requested(requested), LoadError::PendingApproval { missing, .. }) =
            (&cause, &error)
        else {
            return self.fail(cause, error.into());
        };
        let missing = missing.iter().map(ToString::to_string).collect();
        let record = VersionRecord { state: VersionState::PendingApproval, ..record };
        let answer = self.record(requested, &record, &content).await;
        let answer = answer.map(|_seq| {
            let state = PublishedState::PendingApproval;
            Published { state, missing, ..published }
        });
        if let Cause::Requested(Requested { reply, .. }) = cause {
            self.replies.push((reply, answer));
        }
    }

    /// Ends an installation that has failed: answers the operator's request, or remembers why the desired
    /// version is not installed.
    pub(super) fn fail(&mut self, cause: Cause, error: PublishError) {
        tracing::warn!(
            reason = error.reason(),
            "a version is not installed: {error}; to fix it: {}",
            error.fix()
        );
        match (cause, error) {
            (Cause::Requested(Requested { reply, .. }), error) => {
                self.replies.push((reply, Err(error)));
            }
            (Cause::Recorded(desired), error) => {
                self.end_fetch(&desired);
                let error = match error {
                    PublishError::Refused(error) => error,
                    PublishError::Store(error) => LoadError::Store(error),
                    _ => return,
                };
                let id = desired.capability_id.clone();
                self.unapplied.insert(id, Unapplied::new(desired, error));
            }
        }
    }

    /// Sends the answers to requests, after the snapshot with their outcome was published.
    pub(super) fn send_replies(&mut self) {
        for (reply, answer) in self.replies.drain(..) {
            // An error means that nobody waits any more.
            let _sent = reply.send(answer);
        }
    }
}

/// Writes a component to a hidden temporary file in the folder, and syncs it to the disk.
fn write_temporary_file(folder: &Path, name: &str, content: &[u8]) -> io::Result<NamedTempFile> {
    let prefix = format!(".{name}.");
    let mut file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)?;
    file.write_all(content)?;
    // Temporary files are private, and components are not.
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Renames a file into place. Returns its fingerprint, by which a later change is noticed.
fn persist_file(file: NamedTempFile, folder: &Path, name: &str) -> io::Result<Fingerprint> {
    let file = file.persist(folder.join(name)).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()?;
    // The rename changes the file's times. If another file has got the name since, its fingerprint differs.
    Ok(Fingerprint::of(&file.metadata()?))
}

/// Runs work on the folder in another thread; an error is `FolderNotWritable`.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, LoadError> {
    let result = tokio::task::spawn_blocking(work).await.map_err(io::Error::other);
    result.and_then(|result| result).map_err(LoadError::FolderNotWritable)
}
