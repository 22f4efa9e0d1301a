//! A release as it is recorded: its parts, how it ends, and what is counted of its calls.

use portolan_vocabulary::{ReleaseFigures, Timestamp};
use serde::{Deserialize, Serialize};

/// The state of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseState {
    Running,
    /// Its version was given to all callers.
    Promoted,
    /// Its version was taken back.
    Aborted,
    /// Another version was published or rolled back to meanwhile.
    Replaced,
}

/// The version whose calls are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseSide {
    Served,
    Canary,
}

/// A release as it begins.
#[derive(Debug, Clone)]
pub struct NewRelease {
    pub capability_id: String,
    pub version: String,
    pub digest: String,
    /// The name of its file in a catalog folder.
    pub file: String,
    /// The origin of the component.
    pub source: String,
    pub served_version: String,
    pub served_digest: String,
    /// The share of callers in percent.
    pub share: u64,
    pub started_at: Timestamp,
    /// The operator, as named by the command.
    pub started_by: String,
    /// When its time is over, if it has one.
    pub due_at: Option<Timestamp>,
    /// Whether it is promoted by itself then.
    pub promotes: bool,
}

/// How a release ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReleaseEnding {
    /// The operator, as named by the command; `None` if the host ended it.
    pub by: Option<String>,
    /// The rule that the canary broke.
    pub rule: Option<String>,
    pub reason: Option<String>,
    pub served: ReleaseFigures,
    pub canary: ReleaseFigures,
}

/// The request to publish the version of a release for all callers. It is recorded with the version's entry in the
/// history: only while the release runs, which ends with it.
#[derive(Debug, Clone)]
pub struct Promotion {
    /// The id of the release.
    pub release: i64,
    pub ending: ReleaseEnding,
}

/// A release.
#[derive(Debug, Clone)]
pub struct ReleaseRecord {
    pub id: i64,
    pub release: NewRelease,
    pub state: ReleaseState,
    pub ended_at: Option<Timestamp>,
    pub ending: Option<ReleaseEnding>,
}

/// What a node has counted of the calls of a version in a minute.
#[derive(Debug, Clone)]
pub struct ReleaseCount {
    /// Minutes since the Unix epoch.
    pub minute: u64,
    pub side: ReleaseSide,
    pub figures: ReleaseFigures,
}

impl ReleaseState {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Promoted => "promoted",
            Self::Aborted => "aborted",
            Self::Replaced => "replaced",
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        match text {
            "running" => Self::Running,
            "promoted" => Self::Promoted,
            "replaced" => Self::Replaced,
            _ => Self::Aborted,
        }
    }
}

impl ReleaseSide {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Canary => "canary",
        }
    }
}
