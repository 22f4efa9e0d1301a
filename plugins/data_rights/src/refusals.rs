//! The refusals, each with the next step that helps.

use crate::types::*;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = DataRightsError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum DataRightsError {
    /// The person has no such export. Only the last one is kept.
    #[refusal(not_found, next = status())]
    ExportNotFound,
    /// An export is running. It is ready within minutes.
    #[refusal(conflict, retryable, next = status().after_s(30))]
    ExportRunning,
    /// The last export was ready less than a day ago. Download it, or wait.
    #[refusal(too_many, retryable, next = status().after_s(wait_s))]
    ExportTooSoon { wait_s: u32 },
    /// No erasure is scheduled.
    #[refusal(not_found, next = status())]
    ErasureNotFound,
    /// There is no such person, neither in live mode nor in test mode.
    #[refusal(not_found)]
    OwnerNotFound,
    /// This person belongs to test mode. Schedule the erasure there: add --test-mode to the command, or test_mode=true to the query.
    #[refusal(conflict)]
    OwnerInTestMode,
    /// This person belongs to live mode. Schedule the erasure there: leave out --test-mode of the command, or test_mode of the query.
    #[refusal(conflict)]
    OwnerInLiveMode,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) fn status() -> Next {
    Next::action(CAPABILITY, "status")
}
