//! The names in preferences: of events that can be published here, and of categories. A name that means
//! nothing is refused, because the person would rely on it.

use crate::types::{Preferences, Result};
use people_kit::taxonomy::{self, NarrowInput};
use portolan_sdk::{
    contract::{delivery, platform},
    prelude::*,
};
use std::collections::BTreeSet;

/// The events that the host itself publishes and rules can hold.
const OF_THE_HOST: [&str; 1] = ["notifications.digest"];

/// Refuses names in preferences that mean nothing here. Names that were stored before are accepted,
/// because their capability may be gone since.
pub(crate) fn ensure_known(
    owner_id: &str,
    before: &Preferences,
    after: &Preferences,
) -> Result<()> {
    let stored: BTreeSet<&str> = of_events(before).into_iter().map(|(_, name)| name).collect();
    let mut given = of_events(after);
    given.retain(|(_, name)| !stored.contains(name));
    if !given.is_empty() {
        ensure_published(&given, &published(delivery::get(owner_id)?.always_delivered))?;
    }
    for (index, rule) in after.auto_decline_rules.iter().enumerate() {
        if !before.auto_decline_rules.contains(rule) {
            ensure_category(index, &rule.category)?;
        }
    }
    Ok(())
}

/// Returns whether events of this type or family are among those that are always delivered.
pub(crate) fn is_always_delivered(name: &str, always: &[String]) -> bool {
    always.iter().any(|always| {
        name.strip_prefix(always.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the types and families that preferences name, each with its JSON Pointer.
fn of_events(preferences: &Preferences) -> Vec<(String, &str)> {
    let disabled = preferences.disabled_events.iter().enumerate();
    let disabled = disabled.map(|(at, name)| (format!("/disabled_events/{at}"), name.as_str()));
    let caps = preferences.event_caps.iter().enumerate();
    let caps = caps.map(|(at, cap)| (format!("/event_caps/{at}/events"), cap.events.as_str()));
    let digest =
        preferences.event_digest.iter().flat_map(|digest| digest.events.iter().enumerate());
    let digest = digest.map(|(at, name)| (format!("/event_digest/events/{at}"), name.as_str()));
    disabled.chain(caps).chain(digest).collect()
}

/// Returns the types of events that can be published here.
fn published(always: Vec<String>) -> BTreeSet<String> {
    let actions = platform::components().into_iter().flat_map(|component| component.actions);
    let types = actions.flat_map(|action| action.emits);
    types.chain(OF_THE_HOST.map(str::to_owned)).chain(always).collect()
}

/// Refuses the first name that is neither a type of these events nor a family of them.
fn ensure_published(given: &[(String, &str)], types: &BTreeSet<String>) -> Result<()> {
    let families = types.iter().filter_map(|name| name.split('.').next());
    let known: BTreeSet<&str> = types.iter().map(String::as_str).chain(families).collect();
    for (pointer, name) in given {
        if !known.contains(name) {
            let distance = |known: &&&str| strsim::damerau_levenshtein(known, name);
            let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
            let expected =
                format!("a type or a family of events of this service; the nearest is {nearest}");
            return Err(Refusal::validation(pointer, "known_events", expected).into());
        }
    }
    Ok(())
}

/// Refuses a category that does not exist. Where there is no taxonomy, any is accepted.
fn ensure_category(index: usize, code: &str) -> Result<()> {
    let input = NarrowInput { code: Some(code.to_owned()), ..NarrowInput::default() };
    match taxonomy::NARROW.call(&input) {
        Err(refusal) if refusal.code == "category_unknown" => {
            let pointer = format!("/auto_decline_rules/{index}/category");
            let above = refusal.conflict.as_deref().and_then(|conflict| conflict.get("nearest"));
            let expected = match above.and_then(Value::as_str) {
                Some(above) => format!("a code of listing_taxonomy, such as {above}"),
                None => "a code of listing_taxonomy".to_owned(),
            };
            let next = Next::action("listing_taxonomy", "tree");
            Err(Refusal::validation(&pointer, "category", expected).next(next).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::test;

    #[test]
    fn a_typo_is_refused_with_the_nearest_name() {
        let types = ["listing.published", "pairing.proposed", "identity", "catalog.changed"];
        let types = types.map(str::to_owned).into();
        for (name, nearest) in [
            ("listing", None),
            ("pairing.proposed", None),
            ("identity", None),
            ("listng", Some("listing")),
            ("pairing.propose", Some("pairing.proposed")),
            ("listing.published.now", Some("listing.published")),
        ] {
            let refused = ensure_published(&[("/disabled_events/0".to_owned(), name)], &types);
            let refused = refused.err().map(Refusal::from).map(|refusal| {
                let conflict = refusal.conflict.unwrap();
                assert_eq!(conflict["errors"][0]["pointer"], "/disabled_events/0");
                conflict["errors"][0]["expected"].as_str().unwrap().to_owned()
            });
            let names =
                |nearest: &str| refused.as_ref().is_some_and(|text| text.ends_with(nearest));
            assert!(nearest.map_or(refused.is_none(), names), "{name} {refused:?}");
        }
    }

    #[test]
    fn a_category_must_exist_if_there_is_a_taxonomy() {
        let unknown = |code: &str| {
            let refusal =
                Refusal { code: code.to_owned(), ..Refusal::common(ErrorCode::NotFound, "No.") };
            refusal.conflict(&json!({ "nearest": "work" }))
        };
        for (code, refused) in [("category_unknown", true), ("unknown_capability", false)] {
            let mut world = test::world().refuse(taxonomy::NARROW, unknown(code));
            let checked = world.run(|_call| ensure_category(2, "work.jop"));
            assert_eq!(checked.is_err(), refused, "{code}");
        }
    }

    #[test]
    fn what_is_always_delivered_is_a_type_or_a_family() {
        let always = ["identity".to_owned(), "catalog.changed".to_owned()];
        for (name, expected) in [
            ("identity", true),
            ("identity.revoked", true),
            ("identityx", false),
            ("catalog", false),
            ("catalog.changed", true),
        ] {
            assert_eq!(is_always_delivered(name, &always), expected, "{name}");
        }
    }
}
