//! The refusals of searches.

use people_kit::taxonomy::TaxonomyError;
use portolan_sdk::prelude::*;

const CAPABILITY: &str = "map_search";

pub(crate) type Result<T, E = SearchError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub enum SearchError {
    /// `q` has no word to search for: give at least one letter or digit, or leave it out.
    #[refusal(
        invalid,
        next = Next::action(CAPABILITY, "search").ask("q", "What are you looking for?")
    )]
    QueryEmpty,
    /// More than 4,000 organisations fit, too many to find the roles, people, signals and events that belong to them.
    /// Add a filter, or search for organisations only.
    #[refusal(unprocessable, next = organisations_only())]
    TooManyOrganisations,
    #[refusal(transparent)]
    Common(Refusal),
}

impl SearchError {
    /// Returns the error with its pointers moved to where the filters are in the caller's body.
    #[must_use]
    pub fn within(self, base: &str) -> Self {
        match self {
            Self::Common(refusal) => {
                Self::Common(TaxonomyError::Common(refusal).within(base).into())
            }
            other => other,
        }
    }
}

fn organisations_only() -> Next {
    Next::action(CAPABILITY, "search").field("types", json!(["organisation"]))
}

/// Makes the refusal of a field.
pub(crate) fn fault(pointer: &str, rule: &str, expected: &str) -> SearchError {
    let next = Next::action(CAPABILITY, "search");
    Refusal::validation(pointer, rule, expected).next(next).into()
}

/// Makes the refusal of a sort by relevance without words.
pub(crate) fn missing_q() -> SearchError {
    let next = Next::action(CAPABILITY, "search").field("sort", "relevance");
    let next = next.ask("q", "What are you looking for?");
    let expected = "words to sort by, or another `sort`";
    Refusal::validation("/q", "required", expected).next(next).into()
}

/// Makes the refusal of something that needs a point.
pub(crate) fn missing_near(expected: &str) -> SearchError {
    let next = Next::action(CAPABILITY, "search");
    let next = next.ask("near", "Near which place, as latitude and longitude?");
    Refusal::validation("/near", "required", expected).next(next).into()
}
