//! The reasons why a publication or rollback is refused.

use crate::{problem::Problem, refusal::LoadError};
use portolan_store::DbError;

/// The reason why a version does not become the desired one. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The reason for which the catalog would refuse its file too.
    #[error("not fit for a catalog: {} ({})", .0.message(), .0.reason())]
    Refused(#[from] LoadError),
    #[error(
        "not fit for a catalog: some collections do not declare which paths of their documents name people"
    )]
    UndeclaredPeople(Vec<Problem>),
    #[error(
        "version {version} breaks callers of {replaced}, and its major version is not a new one"
    )]
    Breaking { version: String, replaced: String, next_major: u64, changes: Vec<Problem> },
    #[error("{0:?} is not the name of a file of the catalog folder")]
    FileName(String),
    #[error("the history of {id} has no version {version}")]
    UnknownVersion { id: String, version: String },
    #[error("the history of {0} has no version before the serving one")]
    NothingEarlier(String),
    #[error("the content of version {version} of {id} is no longer kept")]
    NotKept { id: String, version: String },
    #[error("{0} does not serve, so no share of its callers can get another version")]
    NothingServes(String),
    #[error(
        "version {version} of {id} cannot be given to a share of callers, because the present version would go on beside it, and they differ in what both need to share; see the problems"
    )]
    NotForAShare { id: String, version: String, problems: Vec<Problem> },
    #[error("a release of {0} runs already")]
    ReleaseRuns(String),
    #[error("no release of {0} runs")]
    NoRelease(String),
    #[error("{0} is no share of callers: it is 1 to 50 percent")]
    Share(u64),
    #[error("the host is stopping")]
    Stopping,
    #[error(transparent)]
    Store(#[from] DbError),
}

impl PublishError {
    /// Returns a code for programs.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Refused(error) => error.reason(),
            Self::UndeclaredPeople(_) => "people_not_declared",
            Self::Breaking { .. } => "breaking_change",
            Self::FileName(_) => "bad_file_name",
            Self::UnknownVersion { .. } => "unknown_version",
            Self::NothingEarlier(_) => "nothing_earlier",
            Self::NotKept { .. } => "not_kept",
            Self::NothingServes(_) => "nothing_serves",
            Self::NotForAShare { .. } => "not_for_a_share",
            Self::ReleaseRuns(_) => "release_runs",
            Self::NoRelease(_) => "no_release",
            Self::Share(_) => "bad_share",
            Self::Stopping => "stopping",
            Self::Store(_) => "host_failed",
        }
    }

    /// Returns what to do about it.
    pub fn fix(&self) -> String {
        match self {
            Self::Refused(error) => refusal_fix(error),
            Self::UndeclaredPeople(_) => "fix each problem below".to_owned(),
            Self::Breaking { next_major, .. } => format!(
                "keep what callers rely on, or publish it as {next_major}.0.0; a host with `breaking = \"allow\"` in [publish] takes it as it is"
            ),
            Self::FileName(_) => {
                "give a name of at most 200 letters, digits, dots, - and _ that ends in .wasm, with --name".to_owned()
            }
            Self::UnknownVersion { id, .. } | Self::NothingEarlier(id) => {
                format!("see `portolan history {id}`")
            }
            Self::NotKept { .. } => {
                "publish its file again; `keep` in [publish] is the number of versions that are kept".to_owned()
            }
            Self::NothingServes(_) => "publish it whole, without --share".to_owned(),
            Self::NotForAShare { .. } => {
                "publish it whole, without --share; try it before with `portolan rehearse`".to_owned()
            }
            Self::ReleaseRuns(id) => format!(
                "see `portolan release status {id}`; promote or abort it first"
            ),
            Self::NoRelease(id) => format!(
                "see `portolan release status {id}` how the last one ended; if it was promoted, take it back with `portolan rollback {id}`; begin one with `portolan publish FILE.wasm --share 5`"
            ),
            Self::Share(_) => "give 1 to 50; to give it to all, promote it".to_owned(),
            Self::Stopping => "try again when it runs".to_owned(),
            Self::Store(_) => "try again when the database answers; see the host's log".to_owned(),
        }
    }

    /// Returns whether the same request may succeed later by itself, because the host has failed, not the version.
    pub(crate) fn can_pass(&self) -> bool {
        match self {
            Self::Refused(error) => {
                error.is_host_failure() || matches!(error, LoadError::FolderNotWritable(_))
            }
            Self::Stopping | Self::Store(_) => true,
            _ => false,
        }
    }

    /// Returns the problems of which the error consists; empty for most errors.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Refused(error) => error.problems(),
            Self::UndeclaredPeople(problems)
            | Self::Breaking { changes: problems, .. }
            | Self::NotForAShare { problems, .. } => problems,
            _ => &[],
        }
    }
}

/// Returns the fix of a refusal: another one than for a file of the folder where that one does not fit.
fn refusal_fix(error: &LoadError) -> String {
    match error {
        LoadError::PublisherMismatch { candidate, .. } => format!(
            "sign it with the key of the id's publisher, or give an unsigned one the name of the file that serves, with --name; if the id is to change hands, put the file into the catalog folder and run `portolan catalog adopt {} --digest {}`",
            candidate.id, candidate.digest
        ),
        LoadError::NamespaceTaken { candidate, .. } => format!(
            "name its events after its own id; if these events are to change hands, put the file into the catalog folder and run `portolan catalog adopt {} --digest {}`",
            candidate.id, candidate.digest
        ),
        LoadError::Downgrade { id, version, .. } => format!(
            "give it a higher version; to bring an earlier one back, run `portolan rollback {id} --to {version}`"
        ),
        _ => error.fix(),
    }
}
