//! The refusals, each with the next step that helps.

use crate::types::*;
use listing_search::SearchError;
use people_kit::text::TextError;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = SavedSearchError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum SavedSearchError {
    /// The person has no such saved search.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list"))]
    SavedSearchNotFound,
    /// The person has 50 saved searches, which is the limit. Delete one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("saved_searches", MOST_SEARCHES as u64),
        next = Next::action(CAPABILITY, "list")
    )]
    SavedSearchLimitReached,
    #[refusal(transparent)]
    Search(SearchError),
    #[refusal(transparent)]
    Map(record_search::SearchError),
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

/// Whether a refusal is not about the conditions, so that a later call may succeed.
pub(crate) fn is_failure(refusal: &Refusal) -> bool {
    let row = ErrorCode::from_name(&refusal.code).map(ErrorCode::row);
    row.is_some_and(|row| row.retryable && row.kind.http_status() >= 500)
}

pub(crate) fn read(search_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("search_id", search_id)
}
