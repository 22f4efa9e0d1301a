//! The refusals, each with the next step that helps.

use crate::types::*;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = ApprovalsError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum ApprovalsError {
    /// The person has no such call. One that has ended is kept for 30 days, a cancelled one for one day.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list"))]
    ApprovalNotFound,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) fn read(approval_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("approval_id", approval_id)
}
