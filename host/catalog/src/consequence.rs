//! The consequence of an action for the person of its caller, as a component declares it in the annotation
//! [`CONSEQUENCE`].

use crate::problem::{Problems, excerpt};
use portolan_vocabulary::{
    Access, ActionDescriptor, Annotation, CATEGORIES, CONSEQUENCE, Consequence, Descriptor, OWN,
    Publisher, is_category,
};
use serde::Deserialize as _;
use serde_json::Value;

/// The maximum number of paths of counterparts.
const COUNTERPARTS: usize = 10;

/// Returns what an action brings about: its own annotation, or for a write that of the capability. That an action
/// changes only what is the person's own is believed of the host's publisher alone.
pub(super) fn consequence(
    descriptor: &Descriptor,
    action: &ActionDescriptor,
    publisher: &Publisher,
) -> Option<Consequence> {
    let at = format!("actions.{}", action.name);
    let declared = |at: &str| {
        let is_it = |one: &&Annotation| one.at == at && one.key == CONSEQUENCE;
        let annotation = descriptor.annotations.iter().find(is_it)?;
        Consequence::deserialize(annotation.value.as_ref().ok()?).ok()
    };
    let of_all = || declared("").filter(|_| action.access == Access::Write);
    let consequence = declared(&at).or_else(of_all)?;
    (*publisher == Publisher::Host || consequence.category != OWN).then_some(consequence)
}

/// Checks the declaration in an annotation.
pub(super) fn check_consequence(
    descriptor: &Descriptor,
    annotation: &Annotation,
    value: &Value,
    problems: &mut Problems,
) {
    let at = format!("{}.annotations.{CONSEQUENCE}", excerpt(&annotation.at));
    let at = at.trim_start_matches('.');
    let declared = match Consequence::deserialize(value) {
        Ok(declared) => declared,
        Err(error) => {
            let fix = "write {category, counterpart?, first_contact?, amount?, currency?}";
            problems.add(at, format!("cannot be read: {error}"), fix);
            return;
        }
    };
    if !is_category(&declared.category) {
        let names: Vec<_> = CATEGORIES.iter().map(|category| category.name).collect();
        let problem = format!("{} is not a category", excerpt(&declared.category));
        problems.add(at, problem, format!("use {}", names.join(", ")));
    }
    let mut paths: Vec<&String> = declared.counterpart.iter().collect();
    if paths.len() > COUNTERPARTS {
        let problem = format!("has more than {COUNTERPARTS} paths of counterparts");
        problems.add(at, problem, "leave some out");
    }
    paths.extend(declared.amount.iter().chain(&declared.currency));
    if annotation.at.is_empty() {
        if !paths.is_empty() {
            let fix = "move it to the actions that have these fields";
            problems.add(at, "has paths, but no input", fix);
        }
        return;
    }
    let name = annotation.at.strip_prefix("actions.").unwrap_or_default();
    let can_have_one = |action: &&ActionDescriptor| {
        action.name == name && matches!(action.access, Access::Write | Access::Internal)
    };
    let Some(action) = descriptor.actions.iter().find(can_have_one) else {
        let fix = "move it to such an action or to the capability, or leave it out";
        problems.add(at, "is not at an action of access write or internal", fix);
        return;
    };
    // A schema that is not JSON is reported with the action.
    let Ok(schema) = &action.input else { return };
    for path in paths {
        let first = path.split('.').next().unwrap_or_default();
        if schema.get("properties").is_none_or(|all| all.get(first).is_none()) {
            let problem = format!("{} is not a field of the input", excerpt(first));
            problems.add(at, problem, "name a field of the action's input");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::tests::{action, descriptor};
    use serde_json::json;

    fn declaring(at: &str, value: Value) -> Descriptor {
        let input = json!({ "type": "object", "properties": { "to": {}, "amount": {} } });
        let mut descriptor = descriptor(None);
        descriptor.actions =
            [("list", Access::Read), ("pay", Access::Write), ("tidy", Access::Internal)]
                .map(|(name, access)| action(name, access, input.clone()).descriptor)
                .into();
        let key = CONSEQUENCE.to_owned();
        descriptor.annotations.push(Annotation { at: at.to_owned(), key, value: Ok(value) });
        descriptor
    }

    #[test]
    fn a_wrong_declaration_is_refused() {
        let pay = json!({ "category": "payment", "counterpart": ["to"], "amount": "amount" });
        for (at, value, problem) in [
            ("actions.pay", pay.clone(), None),
            ("actions.tidy", pay.clone(), None),
            ("", json!({ "category": "own" }), None),
            ("", pay.clone(), Some("no input")),
            ("actions.list", pay.clone(), Some("not at an action")),
            ("collections.loans", pay, Some("not at an action")),
            ("actions.pay", json!({ "category": "fun" }), Some("not a category")),
            ("actions.pay", json!("payment"), Some("cannot be read")),
            (
                "actions.pay",
                json!({ "category": "payment", "amount": "sum" }),
                Some("sum is not a field"),
            ),
            (
                "actions.pay",
                json!({ "category": "payment", "counterpart": vec!["to"; 11] }),
                Some("more than 10"),
            ),
        ] {
            let descriptor = declaring(at, value.clone());
            let mut problems = Problems::default();
            check_consequence(&descriptor, &descriptor.annotations[0], &value, &mut problems);
            let found: Vec<_> = problems.0.iter().map(|found| &found.problem).collect();
            match problem {
                None => assert!(found.is_empty(), "{at} {value}: {found:?}"),
                Some(problem) => assert!(
                    found.len() == 1 && found[0].contains(problem),
                    "{at} {value}: {found:?}"
                ),
            }
        }
    }

    #[test]
    fn what_is_ones_own_is_believed_of_the_host_alone() {
        let of = |at: &str, category: &str, publisher: &Publisher| {
            let descriptor = declaring(at, json!({ "category": category }));
            let pay = &descriptor.actions[1];
            consequence(&descriptor, pay, publisher).map(|declared| declared.category)
        };
        let other = Publisher::Unsigned("other".into());
        assert_eq!(of("actions.pay", "own", &Publisher::Host).as_deref(), Some("own"));
        assert_eq!(of("", "own", &Publisher::Host).as_deref(), Some("own"));
        assert_eq!(of("actions.pay", "own", &other), None);
        assert_eq!(of("actions.pay", "message", &other).as_deref(), Some("message"));
        assert_eq!(of("actions.tidy", "message", &other), None);
    }

    #[test]
    fn the_published_schema_has_the_same_categories_and_members() {
        let schema = include_str!("../../../docs/schemas/consequence.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let names: Vec<_> = CATEGORIES.iter().map(|category| json!(category.name)).collect();
        assert_eq!(schema["properties"]["category"]["enum"], json!(names));
        assert_eq!(schema["properties"]["counterpart"]["maxItems"], json!(COUNTERPARTS));
        let whole = json!({
            "category": "payment", "counterpart": ["to"], "first_contact": true,
            "amount": "amount", "currency": "currency",
        });
        let declared = Consequence::deserialize(&whole).unwrap();
        assert_eq!(json!(declared), whole);
        let members = |value: &Value| {
            value.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(members(&schema["properties"]), members(&whole));
    }

    #[test]
    fn the_guide_has_every_category() {
        let guide = include_str!("../../../docs/plugin-guide.md");
        for category in CATEGORIES {
            let row = format!("| `{}` | {} |", category.name, category.meaning);
            assert!(guide.contains(&row), "{row}");
        }
    }
}
