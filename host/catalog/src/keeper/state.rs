//! The state of the keeper: its files, and its work in progress.

use crate::{
    capability::Capability,
    catalog::Catalog,
    decisions::RecordedDecisions,
    file::Fingerprint,
    migration::Progress,
    publishing::{
        DroppedVersion, Installation, InstallationNote, Installing, PublishError, Published,
        Unapplied,
    },
    refusal::LoadError,
    releases::Canary,
    status::Change,
};
use portolan_store::{DesiredVersion, Generation};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinSet},
};

/// The state of one file of the folder.
#[derive(Default)]
pub(crate) struct FileState {
    /// The content that was last loaded or refused.
    pub(crate) handled: Option<Fingerprint>,
    /// A content that may not be complete yet, and since when it has been unchanged.
    pub(crate) changing: Option<(Fingerprint, Instant)>,
    /// A content for which the host has failed, and the time from which on it may be loaded again.
    pub(super) retry_at: Option<(Fingerprint, Instant)>,
    /// Since when the file has been missing.
    pub(super) missing: Option<Instant>,
    pub(crate) loading: bool,
    pub(crate) serving: Option<Arc<Capability>>,
    pub(crate) refused: Option<LoadError>,
    pub(crate) migrating: Option<Migrating>,
    /// A published component that is to serve after the migration, in place of the file's content.
    pub(crate) installing: Option<Box<Installing>>,
}

/// The migration of documents after which a file's component is to serve.
pub(crate) struct Migrating {
    pub(crate) id: Arc<str>,
    pub(crate) progress: Arc<Progress>,
    pub(super) abort: AbortHandle,
}

impl Drop for Migrating {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

pub(super) type MigrationResult =
    (String, Option<Fingerprint>, Box<Capability>, Result<Vec<Generation>, LoadError>);
pub(super) type LoadResult = (String, Fingerprint, Result<Option<Capability>, LoadError>);
/// A desired version with its component and the component's content.
type FetchResult = (DesiredVersion, Result<(Capability, Vec<u8>), LoadError>);
type Reply = (oneshot::Sender<Result<Published, PublishError>>, Result<Published, PublishError>);

/// The canary of a release, loaded beside the serving version.
pub(crate) type CanaryResult = (i64, Arc<Capability>, Result<Capability, LoadError>);

/// The one task that changes the catalog.
pub(crate) struct Keeper {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) files: BTreeMap<String, FileState>,
    pub(super) loads: JoinSet<LoadResult>,
    pub(super) migrations: JoinSet<MigrationResult>,
    /// Whether a snapshot with the current permissions has been published.
    pub(crate) published: bool,
    pub(crate) changes: Vec<Change>,
    /// The recorded decisions of the operator, as they were last read.
    pub(super) decisions: Option<RecordedDecisions>,
    /// Components that the operator asks this node to install.
    pub(super) requests: mpsc::UnboundedReceiver<Installation>,
    /// The installations whose file is being loaded or migrated.
    pub(crate) postponed: Vec<Installation>,
    /// The answers to requests, which are sent when the next snapshot is published.
    pub(crate) replies: Vec<Reply>,
    /// The desired versions that this node has installed.
    pub(crate) note: InstallationNote,
    pub(crate) fetches: JoinSet<FetchResult>,
    /// The ids whose desired version is being fetched or installed.
    pub(crate) fetching: BTreeSet<String>,
    /// The desired versions that this node cannot install, by id.
    pub(crate) unapplied: BTreeMap<String, Unapplied>,
    /// The releases that run, by their ids.
    pub(crate) canaries: BTreeMap<i64, Canary>,
    pub(crate) canary_loads: JoinSet<CanaryResult>,
    /// The versions whose release was aborted: the capability and the digest of each.
    pub(crate) aborted: BTreeSet<(String, String)>,
    /// Versions that were dropped into the folder and are not in the history yet.
    pub(crate) unrecorded: Vec<DroppedVersion>,
}

impl Keeper {
    pub(crate) fn file_mut(&mut self, file: &str) -> &mut FileState {
        self.files.entry(file.to_owned()).or_default()
    }

    pub(crate) fn capabilities(&self) -> BTreeMap<Arc<str>, Arc<Capability>> {
        let serving = self.files.values().filter_map(|known| known.serving.as_ref());
        serving.map(|capability| (Arc::clone(&capability.id), Arc::clone(capability))).collect()
    }
}
