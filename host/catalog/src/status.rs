//! The status of the catalog, for the operator.

use crate::{problem::Problem, refusal::LoadError, roles::RoleStatus};
use portolan_vocabulary::{Digest, Timestamp};
use serde::Serialize;

/// The maximum number of changes in the status.
pub(super) const CHANGES: usize = 100;

/// The catalog folder as this host has loaded it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub catalog_version: u64,
    pub loaded: Vec<Loaded>,
    pub refused: Vec<Refused>,
    pub roles: Vec<RoleStatus>,
    /// Files that are being copied, compiled or checked.
    pub pending: Vec<String>,
    /// The collections whose documents are being migrated.
    pub migrations: Vec<MigrationStatus>,
    /// The releases that run, as this node follows them.
    pub releases: Vec<ReleaseAtNode>,
    /// The latest changes, the newest first.
    pub changes: Vec<Change>,
}

/// A running release, as this node follows it.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseAtNode {
    pub id: String,
    pub version: String,
    /// The version that the other callers get.
    pub served_version: String,
    /// In percent.
    pub share: u64,
    /// `given` to its share of callers; `loading`; `apart` if this node serves another version than the release began
    /// with; `refused`, if this node cannot load it.
    pub state: &'static str,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When its time is over, if it has one.
    pub due_at: Option<Timestamp>,
}

/// A file that serves a capability.
#[derive(Debug, Clone, Serialize)]
pub struct Loaded {
    pub file: String,
    pub id: String,
    pub version: String,
    pub digest: Digest,
    pub bytes: u64,
    pub actions: usize,
    pub imports: Vec<String>,
    /// `host`, `ed25519:<key>` or `unsigned:<file>`.
    pub publisher: String,
    /// The actions of other capabilities that it declares to call, such as `owners.people`.
    pub invokes: Vec<String>,
    pub publishes: Vec<String>,
    pub subscribes: Vec<String>,
    /// The permissions that it needs and does not have. Calls that need them are refused, and events that
    /// need them are not delivered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A refused file, or a refused new content of a file that serves a capability.
#[derive(Debug, Clone, Serialize)]
pub struct Refused {
    pub file: String,
    pub reason: &'static str,
    pub message: String,
    pub fix: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The id of a component that waits for the operator's approval.
    #[serde(skip)]
    pub waiting: Option<String>,
    /// The component, if the operator can decide that it may serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<PendingDecision>,
    /// The id of a component that is refused because a newer version of it was served.
    #[serde(skip)]
    pub older_of: Option<String>,
    /// The version that this file's earlier content still serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_serving: Option<String>,
}

/// The decision by which the operator can accept a refused component.
#[derive(Debug, Clone, Serialize)]
pub struct PendingDecision {
    /// `approve` for permissions, `adopt` for an id or a namespace of another publisher.
    pub decision: &'static str,
    pub id: String,
    pub digest: Digest,
    pub publisher: String,
    /// The permissions that it needs and does not have.
    pub permissions: Vec<String>,
}

impl PendingDecision {
    fn of(error: &LoadError) -> Option<Self> {
        let (decision, candidate, missing) = match error {
            LoadError::PendingApproval { candidate, missing } => {
                ("approve", candidate, missing.as_slice())
            }
            LoadError::PublisherMismatch { candidate, .. }
            | LoadError::NamespaceTaken { candidate, .. } => ("adopt", candidate, [].as_slice()),
            _ => return None,
        };
        Some(Self {
            decision,
            id: candidate.id.clone(),
            digest: candidate.digest,
            publisher: candidate.publisher.to_string(),
            permissions: missing.iter().map(ToString::to_string).collect(),
        })
    }
}

/// The progress of the migration of a collection.
#[derive(Debug, Clone, Serialize)]
pub struct MigrationStatus {
    pub file: String,
    pub id: String,
    pub collection: String,
    pub test_mode: bool,
    pub from: u32,
    pub to: u32,
    pub documents: u64,
    pub migrated: u64,
}

/// One change of the catalog.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    pub at: Timestamp,
    pub id: String,
    pub from: Option<String>,
    pub to: Option<String>,
    /// The breaking changes for callers of the old version, one sentence each.
    pub breaking: Vec<String>,
    /// Whether the change is breaking although the major version is the same.
    pub unannounced: bool,
}

impl Refused {
    pub(super) fn new(file: &str, error: &LoadError, still_serving: Option<String>) -> Self {
        let waiting = match error {
            LoadError::PendingApproval { candidate, .. } => Some(candidate.id.clone()),
            _ => None,
        };
        let older_of = match error {
            LoadError::Downgrade { id, .. } => Some(id.clone()),
            _ => None,
        };
        Self {
            waiting,
            decision: PendingDecision::of(error),
            older_of,
            file: file.to_owned(),
            reason: error.reason(),
            message: error.message(),
            fix: error.fix(),
            problems: error.problems().to_vec(),
            still_serving,
        }
    }
}
