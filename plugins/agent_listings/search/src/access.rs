//! Who may see a listing.

use crate::refusals::{Result, SearchError};
use people_kit::relations;
use portolan_sdk::prelude::*;

/// Refuses unless a minimum age is reached for certain.
pub fn ensure_old_enough(min_age: u8, age: Option<u8>, has_owner: bool) -> Result<()> {
    if min_age == 0 || age.is_some_and(|age| age >= min_age) {
        return Ok(());
    }
    Err(SearchError::AgeRestricted { min_age, has_owner })
}

/// Returns whether a person may see an active listing, whatever its visibility.
pub fn can_view(listing_id: &str, viewer_id: &str) -> Result<bool, Refusal> {
    relations::has_relation(format!("listing:{listing_id}"), "can_view", viewer_id)
}
