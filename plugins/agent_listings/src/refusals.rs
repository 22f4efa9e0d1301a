//! The refusals, each with the next step that helps.

use crate::types::*;
use listing_search::SearchError;
use people_kit::text::TextError;
use portolan_sdk::{prelude::*, states::StateConflict};

pub(crate) type Result<T, E = ListingsError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum ListingsError {
    /// There is no such listing, or it is not visible to you.
    #[refusal(not_found, next = Next::action(CAPABILITY, "search"))]
    ListingNotFound,
    /// A listing in this state cannot be changed. See conflict for the allowed actions.
    #[refusal(
        conflict,
        conflict_detail = StateConflict::new(current, allowed_actions),
        next = read(&listing_id)
    )]
    ListingNotEditable {
        listing_id: String,
        current: &'static str,
        allowed_actions: Vec<&'static str>,
    },
    /// The person has as many listings as allowed. Withdraw one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached(name, limit),
        next = Next::action(CAPABILITY, "list_mine").field("state", states)
    )]
    ListingLimitReached { name: &'static str, limit: u64, states: Vec<&'static str> },
    /// The listing states an age that the year of birth in the person's record excludes. State the
    /// person's age; only the operator can correct a year of birth.
    #[refusal(
        unprocessable,
        conflict_detail = json!({
            "kind": "policy", "policy": "birth_year", "pointer": pointer, "stated": stated,
            "possible": possible,
        }),
        next = Next::action("owners", "me")
    )]
    AgeContradicted {
        pointer: String,
        stated: u64,
        /// The ages that the year of birth allows; only for the person themselves.
        possible: Option<[u8; 2]>,
    },
    /// Listings of this category are never public. Choose another visibility, or none for the
    /// category's own.
    #[refusal(
        unprocessable,
        conflict_detail = json!({
            "kind": "policy", "policy": "never_public", "pointer": pointer,
            "allowed": ["network", "unlisted"],
        }),
        next = Next::action("listing_taxonomy", "get").field("code", category)
    )]
    NeverPublic { pointer: String, category: String },
    #[refusal(transparent)]
    Search(SearchError),
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) fn read(listing_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("listing_id", listing_id)
}
