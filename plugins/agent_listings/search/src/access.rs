//! Access to listings: minimum ages, visibility, and listings that are withheld from everybody but the owner.

use crate::cards::Card;
use crate::refusals::{Result, SearchError};
use people_kit::{listings, people::Person, relations};
use portolan_sdk::prelude::*;

/// Refuses unless a minimum age is reached for certain.
pub fn ensure_old_enough(min_age: u8, age: Option<u8>, has_owner: bool) -> Result<()> {
    if min_age == 0 || age.is_some_and(|age| age >= min_age) {
        return Ok(());
    }
    Err(SearchError::AgeRestricted { min_age, has_owner, is_known: age.is_some() })
}

/// Returns whether nobody but the owner sees a listing: the owner may be too young for it, or it is
/// public in a category that never is.
pub fn is_withheld(card: &Card, owner: Option<&Person>) -> bool {
    is_too_young(card.min_age, owner) || listings::is_withheld(&card.category, card.visibility)
}

/// Returns whether the owner of a listing may be too young for it.
pub fn is_too_young(min_age: u8, owner: Option<&Person>) -> bool {
    let age = owner.and_then(|owner| owner.age_at_least);
    min_age > 0 && age.is_none_or(|age| age < min_age)
}

/// Returns whether a person may see an active listing, whatever its visibility.
pub fn can_view(listing_id: &str, viewer_id: &str) -> Result<bool, Refusal> {
    relations::has_relation(format!("listing:{listing_id}"), "can_view", viewer_id)
}
