//! What a listing may say and show for the age of its owner, and whether it may be public.

use crate::{documents::*, refusals::*, types::*};
use listing_search::ensure_old_enough;
use people_kit::ages;
use people_kit::listings::is_withheld;
use people_kit::people::{self, Person};
use portolan_sdk::prelude::*;

/// Refuses somebody who may change the listing of another person and is too young to see it.
pub(crate) fn ensure_editor_is_old_enough(call: &Call, listing: &Listing) -> Result<()> {
    let other = call.owner_id().filter(|viewer| *viewer != listing.owner_id);
    match other.filter(|_| listing.min_age > 0) {
        None => Ok(()),
        Some(viewer) => {
            let age = people::person(viewer)?.and_then(|person| person.age_at_least);
            Ok(ensure_old_enough(listing.min_age, age, true)?)
        }
    }
}

/// Refuses a listing that its owner is too young for, that states another age than the owner's, or
/// that is public in a category that never is. `base` is the JSON Pointer of the content in the body.
pub(crate) fn ensure_acceptable(
    call: &Call,
    listing: &Listing,
    owner: Option<&Person>,
    base: &str,
) -> Result<()> {
    if is_withheld(&listing.category, listing.visibility) {
        let category = listing.category.clone();
        return Err(ListingsError::NeverPublic { pointer: format!("{base}/visibility"), category });
    }
    let age = owner.and_then(|owner| owner.age_at_least);
    ensure_old_enough(listing.min_age, age, true)?;
    let Some(age) = age.filter(|_| listing.min_age > 0) else { return Ok(()) };
    let possible = [age, age.saturating_add(1)];
    let contradicted = stated(&listing.content)
        .into_iter()
        .find(|(_, stated)| !possible.iter().any(|age| u64::from(*age) == *stated));
    match contradicted {
        None => Ok(()),
        Some((field, stated)) => Err(ListingsError::AgeContradicted {
            pointer: format!("{base}/{field}"),
            stated,
            // Others may change the listing and not know the owner's age.
            possible: (call.owner_id() == Some(&listing.owner_id)).then_some(possible),
        }),
    }
}

/// Refuses like [`ensure_acceptable`], for a stored listing.
pub(crate) fn ensure_publishable(
    call: &Call,
    listing: &Listing,
    owner: Option<Person>,
) -> Result<()> {
    ensure_acceptable(call, listing, owner.as_ref(), "")
}

/// Returns the ages that a listing states of its owner, each with its field.
fn stated(content: &Content) -> Vec<(&'static str, u64)> {
    let attribute = content.attributes.get("age").and_then(serde_json::Value::as_u64);
    let mut stated: Vec<_> = attribute.map(|age| ("attributes/age", age)).into_iter().collect();
    for (field, text) in [("title", &content.title), ("description", &content.description)] {
        stated.extend(ages::stated(text).into_iter().map(|age| (field, age)));
    }
    stated
}
