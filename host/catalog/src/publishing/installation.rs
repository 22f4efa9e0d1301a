//! A component that is on its way into the catalog folder, because a version was published or rolled back to,
//! at this node or at another one.

use crate::{capability::Capability, publishing::error::PublishError};
use portolan_store::{Arrival, DesiredVersion, Promotion, VersionRecord};
use portolan_vocabulary::{Digest, Operator};
use serde::Serialize;
use tokio::sync::oneshot;

/// The operator's request to publish a component.
#[derive(Debug, Clone)]
pub struct PublishRequest {
    /// The name of its file.
    pub file: String,
    /// The origin of the file.
    pub source: String,
    pub decider: Decider,
}

/// The operator who publishes a version or rolls back to one.
#[derive(Debug, Clone)]
pub struct Decider {
    /// `None` if the host promotes a release that was asked to be promoted after a time.
    pub operator: Option<Operator>,
    /// The text for the history.
    pub name: String,
}

/// The state of a version that was published or rolled back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PublishedState {
    Serving,
    /// It was the desired version before, and serves already.
    Unchanged,
    /// It serves when the operator permits what it needs.
    PendingApproval,
    /// It serves when the documents have its form.
    Migrating,
    /// A share of the callers gets it.
    Shared,
}

/// A version that was published, or rolled back to.
#[derive(Debug, Clone, Serialize)]
pub struct Published {
    pub id: String,
    pub version: String,
    pub digest: Digest,
    pub publisher: String,
    /// The name of its file in the catalog folder.
    pub file: String,
    pub state: PublishedState,
    /// The version that served before it.
    pub replaced: Option<String>,
    /// The changes that break callers of the previous version, one sentence each.
    pub breaking: Vec<String>,
    /// The permissions that it needs and does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A component that is to be installed.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) capability: Capability,
    pub(crate) content: Vec<u8>,
    /// The name of the file that it came as.
    pub(crate) file: String,
    pub(crate) cause: Cause,
}

/// The reason for an installation.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The operator asked this node.
    Requested(Requested),
    /// It is the desired version, which is recorded already.
    Recorded(DesiredVersion),
}

/// A request of the operator, who waits for the answer.
#[derive(Debug)]
pub(crate) struct Requested {
    pub(crate) arrival: Arrival,
    pub(crate) source: String,
    pub(crate) decider: Decider,
    /// The action of the row in the audit log.
    pub(crate) decision: &'static str,
    /// The release whose version it is, if that is promoted. It ends with the installation, which is refused with
    /// `NoRelease` once it does not run.
    pub(crate) promotion: Option<Promotion>,
    pub(crate) reply: oneshot::Sender<Result<Published, PublishError>>,
}

/// A component that is being installed and was compared with the one before it.
#[derive(Debug)]
pub(crate) struct Installing {
    pub(crate) content: Vec<u8>,
    pub(crate) cause: Cause,
    /// The entry for the history.
    pub(crate) record: VersionRecord,
    pub(crate) published: Published,
}

impl Cause {
    pub(crate) const fn arrival(&self) -> Arrival {
        match self {
            Self::Requested(Requested { arrival, .. })
            | Self::Recorded(DesiredVersion { arrival, .. }) => *arrival,
        }
    }

    /// Returns whether the version may be older than the highest one that was served.
    pub(crate) fn permits_older(&self) -> bool {
        self.arrival() == Arrival::RolledBack
    }
}
