//! The rules that depend on the age of a listing's owner: what it may say and show, and whether it
//! may be public.

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

/// Returns whether the owner of a listing is old enough for it, for certain.
pub(crate) fn is_old_enough(listing: &Listing, owner: Option<&Person>) -> bool {
    let age = owner.and_then(|owner| owner.age_at_least);
    ensure_old_enough(listing.min_age, age, true).is_ok()
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
    // The schema accepts `34.0` as an integer too.
    let attribute = content.attributes.get("age").and_then(serde_json::Value::as_f64);
    let attribute = attribute.and_then(|age| age.to_string().parse().ok());
    let mut stated: Vec<_> = attribute.map(|age| ("attributes/age", age)).into_iter().collect();
    for (field, text) in [("title", &content.title), ("description", &content.description)] {
        stated.extend(ages::stated(text).into_iter().map(|age| (field, age)));
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;
    use listing_search::is_too_young;
    use people_kit::people::ContactPolicy;
    use portolan_sdk::test;
    use serde_json::{Value, from_value, json};

    const OWNER: &str = "own_1";

    fn person(age_at_least: Option<u8>) -> Person {
        Person {
            owner_id: OWNER.into(),
            display_name: None,
            test_mode: false,
            active: true,
            has_agent: true,
            contact_policy: ContactPolicy::AnyoneMatching,
            age_at_least,
            declined_categories: Vec::new(),
        }
    }

    fn date(age: Option<u8>, description: &str, visibility: &str) -> Listing {
        let attributes = age.map_or(json!({}), |age| json!({ "age": age }));
        let category = json!({
            "label": "Dates", "synonyms": [], "schema_org_type": "Person",
            "counterpart": "social.date", "counterpart_side": "demand",
        });
        let listing = json!({
            "owner_id": OWNER, "category": "social.date", "side": "demand", "about": category,
            "content": { "title": "A walk", "description": description, "attributes": attributes },
            "min_age": 18, "ttl_days": 60, "visibility": visibility,
            "keys": { "facts": [], "ranks": [] }, "excerpt": "", "state": "draft", "changed_at": 0,
            "flags": [], "cleared": false, "times_published": 0, "active_ms": 0,
        });
        from_value(listing).unwrap()
    }

    /// Returns the code and the conflict of the refusal; the code is empty if there is none.
    fn refusal(caller: &str, listing: &Listing, age: Option<u8>) -> (String, Value) {
        let mut world = test::world().owner(caller);
        let refused = world.run(|call| ensure_acceptable(call, listing, Some(&person(age)), ""));
        refused.map_or_else(
            |refusal| (refusal.code, refusal.conflict.map_or(Value::Null, |conflict| *conflict)),
            |()| (String::new(), Value::Null),
        )
    }

    fn code(listing: &Listing, age: Option<u8>) -> String {
        refusal(OWNER, listing, age).0
    }

    #[test]
    fn a_stated_age_agrees_with_the_year_of_birth() {
        for (age, text, expected) in [
            (Some(34), "Hello.", ""),
            (Some(35), "Hello, I am 34 years old.", ""),
            (Some(33), "Hello.", "age_contradicted"),
            (Some(36), "Hello.", "age_contradicted"),
            (Some(34), "Hello, I am 29 years old.", "age_contradicted"),
            (None, "Ich bin 29 und wandere gern.", "age_contradicted"),
            (None, "I look for somebody up to 29 years old.", ""),
        ] {
            assert_eq!(code(&date(age, text, "network"), Some(34)), expected, "{age:?} {text}");
        }
    }

    #[test]
    fn an_age_with_a_point_is_compared_too() {
        let mut listing = date(None, "Hello.", "network");
        for (age, expected) in [(34.0, ""), (35.0, ""), (25.0, "age_contradicted")] {
            listing.content.attributes.insert("age".into(), json!(age));
            assert_eq!(code(&listing, Some(34)), expected, "{age}");
        }
    }

    #[test]
    fn only_the_person_learns_which_ages_are_possible() {
        let listing = date(Some(25), "Hello.", "network");
        let (_, conflict) = refusal(OWNER, &listing, Some(34));
        assert_eq!(
            conflict,
            json!({
                "kind": "policy", "policy": "birth_year", "pointer": "/attributes/age",
                "stated": 25, "possible": [34, 35],
            })
        );
        let (code, conflict) = refusal("own_editor", &listing, Some(34));
        assert_eq!((code.as_str(), &conflict["possible"]), ("age_contradicted", &Value::Null));
    }

    #[test]
    fn minors_publish_nothing_for_adults() {
        let listing = date(None, "Hello.", "network");
        assert_eq!(code(&listing, Some(17)), "age_restricted");
        assert_eq!(code(&listing, None), "age_restricted");
        assert_eq!(code(&listing, Some(18)), "");
        assert!(is_too_young(18, Some(&person(Some(17)))) && is_too_young(18, None));
        assert!(!is_too_young(18, Some(&person(Some(18)))) && !is_too_young(0, None));
    }

    #[test]
    fn a_date_is_never_public() {
        let (code, conflict) = refusal(OWNER, &date(None, "Hello.", "public"), Some(34));
        assert_eq!((code.as_str(), &conflict["pointer"]), ("never_public", &json!("/visibility")));
        assert_eq!(refusal(OWNER, &date(None, "Hello.", "unlisted"), Some(34)).0, "");
    }
}
