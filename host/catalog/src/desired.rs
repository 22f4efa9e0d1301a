//! The keeper follows the desired versions, which the nodes of a database share: a version that was published
//! or rolled back to at one node is installed at every node.

use crate::{
    capability::Capability,
    catalog::Catalog,
    keeper::Keeper,
    load::load_content,
    publishing::{Cause, Installation, Unapplied},
    refusal::LoadError,
};
use portolan_store::DesiredVersion;
use portolan_vocabulary::Digest;
use std::sync::Arc;

impl Keeper {
    /// Begins to install the desired versions that this node has not installed.
    pub(super) async fn install_desired(&mut self) {
        let desired = match self.catalog.store.desired_versions().await {
            Ok(desired) => desired,
            Err(error) => {
                tracing::warn!(%error, "the desired versions cannot be read");
                return;
            }
        };
        for version in desired {
            let id = &version.capability_id;
            let unapplied = self.unapplied.get(id);
            let is_waiting = unapplied
                .is_some_and(|unapplied| unapplied.seq == version.seq && !unapplied.is_due());
            if is_waiting || self.fetching.contains(id) {
                continue;
            }
            if self.note.has_installed(&version) {
                self.unapplied.remove(id);
            } else {
                self.fetch(version);
            }
        }
    }

    fn fetch(&mut self, desired: DesiredVersion) {
        let id = desired.capability_id.clone();
        match self.note.begin(desired.seq) {
            Ok(true) => {}
            Ok(false) => {
                self.unapplied.insert(id, Unapplied::new(desired, LoadError::StartFailed));
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the note of installed versions cannot be written")
            }
        }
        self.fetching.insert(id);
        let catalog = Arc::clone(&self.catalog);
        self.fetches.spawn(async move {
            let wanted = desired.clone();
            let task =
                tokio::spawn(
                    async move { catalog.fetch_component(&wanted.digest, &wanted.file).await },
                );
            // A panic of the host must not leave the version in the state of being fetched.
            let result =
                task.await.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
            (desired, result)
        });
    }

    pub(super) async fn finish_fetch(
        &mut self,
        (desired, result): (DesiredVersion, Result<(Capability, Vec<u8>), LoadError>),
    ) {
        let file = desired.file.clone();
        let cause = Cause::Recorded(desired);
        match result {
            Ok((capability, content)) => {
                self.install(Installation { capability, content, file, cause }).await;
            }
            Err(error) => self.fail(cause, error.into()),
        }
    }

    /// Notes that the installation of a desired version has ended, whatever its outcome.
    pub(super) fn end_fetch(&mut self, desired: &DesiredVersion) {
        self.fetching.remove(&desired.capability_id);
        self.end_attempt(desired.seq);
    }

    /// Notes that the host did not end while it installed this version.
    pub(super) fn end_attempt(&mut self, seq: i64) {
        if let Err(error) = self.note.finish(seq) {
            tracing::warn!(%error, "the note of installed versions cannot be written");
        }
    }
}

impl Catalog {
    /// Loads a component of the history; `ContentMissing` if its content is not stored or is damaged. `file`
    /// is the name that it had in a catalog folder.
    pub(super) async fn fetch_component(
        &self,
        digest: &str,
        file: &str,
    ) -> Result<(Capability, Vec<u8>), LoadError> {
        let content = self.store.component_content(digest).await?;
        let content = content.filter(|content| Digest::of(content).to_string() == digest);
        let content =
            content.ok_or_else(|| LoadError::ContentMissing { digest: digest.to_owned() })?;
        let trust = &self.options.trust;
        let capability = load_content(&self.sandbox, trust, file, &content).await?;
        Ok((capability, content))
    }
}
