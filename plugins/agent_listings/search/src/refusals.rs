//! The refusals of searches.

use people_kit::taxonomy::TaxonomyError;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = SearchError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub enum SearchError {
    /// `q` has no word to search for: give at least one letter or digit, or leave it out.
    #[refusal(
        invalid,
        next = Next::action("agent_listings", "search").ask("q", "What are you looking for?")
    )]
    QueryEmpty,
    /// This category has a minimum age, and the person's record does not show that they have
    /// reached it.
    #[refusal(
        forbidden,
        retryable,
        conflict_detail = json!({ "kind": "policy", "policy": "min_age", "min_age": min_age }),
        next = state_age(has_owner, is_known)
    )]
    AgeRestricted { min_age: u8, has_owner: bool, is_known: bool },
    #[refusal(transparent)]
    Taxonomy(TaxonomyError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl SearchError {
    /// Returns the error with its pointers moved to where the conditions are in the caller's body.
    #[must_use]
    pub fn within(self, base: &str) -> Self {
        match self {
            Self::Taxonomy(error) => Self::Taxonomy(error.within(base)),
            Self::Common(refusal) => Self::Taxonomy(TaxonomyError::Common(refusal).within(base)),
            other => other,
        }
    }
}

pub(crate) fn validation(pointer: &str, rule: &str, expected: &str) -> Refusal {
    let next = Next::action("agent_listings", "search");
    Refusal::validation(pointer, rule, expected).next(next)
}

fn state_age(has_owner: bool, is_known: bool) -> Next {
    if !has_owner {
        return Next::claim().then_retry();
    }
    if is_known {
        return Next::action("owners", "me");
    }
    Next::action("owners", "update_profile")
        .ask("birth_year", "In which year were you born? Others do not see it.")
        .then_retry()
}
