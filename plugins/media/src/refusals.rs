//! The refusals, each with the next step that helps.

use crate::types::*;
use people_kit::text::TextError;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = MediaError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum MediaError {
    /// There is no such file, or it is not visible to you.
    #[refusal(not_found, next = list())]
    MediaNotFound,
    /// There is no such listing, or the person cannot edit it.
    #[refusal(not_found, next = Next::action("agent_listings", "list_mine"))]
    ListingNotFound,
    /// There is no such person, or the person is not visible to you.
    #[refusal(not_found, next = Next::action("social_relationships", "list"))]
    OwnerNotFound,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl MediaError {
    pub(crate) fn too_many() -> Self {
        let limit = Limit::reached("files", MOST_FILES);
        let message = "The person has as many files as are possible. Delete one first.";
        Self::Common(quota(message, &limit, list()))
    }

    pub(crate) fn too_large(most: u64) -> Self {
        let expected = format!("at most {most} for a file of this kind");
        Self::Common(Refusal::validation("/bytes", "maximum", expected))
    }
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

pub(crate) fn get(media_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("media_id", media_id)
}
