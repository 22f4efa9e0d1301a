//! The texts that capabilities publish under secret addresses, as a component declares it in the annotation
//! [`PUBLISHED`].

use crate::problem::{Problems, excerpt};
use portolan_vocabulary::{Access, Annotation, Descriptor, PUBLISHED};
use serde::Deserialize;
use serde_json::Value;

/// A media type in which texts are published. No browser runs anything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MediaType {
    name: &'static str,
    /// The header of a response.
    header: &'static str,
    /// The name under which a browser stores the text.
    file_name: &'static str,
}

const MEDIA_TYPES: [MediaType; 1] = [MediaType {
    name: "text/calendar",
    header: "text/calendar; charset=utf-8",
    file_name: "calendar.ics",
}];

/// The fields of the action's input and output.
const SECRET: &str = "secret";
const TEXT: &str = "text";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    media_type: String,
}

/// The action of a capability whose text programs read under a secret address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedText {
    pub action: String,
    /// The media type with its parameters.
    pub content_type: &'static str,
    pub file_name: &'static str,
}

/// Returns what a capability publishes, if anything.
pub(super) fn published(descriptor: &Descriptor) -> Option<PublishedText> {
    let annotation = descriptor.annotations.iter().find(|one| one.key == PUBLISHED)?;
    let declared = Declaration::deserialize(annotation.value.as_ref().ok()?).ok()?;
    let media_type = MEDIA_TYPES.iter().find(|known| known.name == declared.media_type)?;
    Some(PublishedText {
        action: annotation.at.strip_prefix("actions.")?.to_owned(),
        content_type: media_type.header,
        file_name: media_type.file_name,
    })
}

/// Checks the declaration in an annotation.
pub(super) fn check_published(
    descriptor: &Descriptor,
    annotation: &Annotation,
    value: &Value,
    problems: &mut Problems,
) {
    let at = format!("{}.annotations.{PUBLISHED}", excerpt(&annotation.at));
    let at = at.trim_start_matches('.');
    let media_type = Declaration::deserialize(value).map(|declared| declared.media_type);
    if !media_type.is_ok_and(|name| MEDIA_TYPES.iter().any(|known| known.name == name)) {
        let names: Vec<_> = MEDIA_TYPES.iter().map(|known| known.name).collect();
        let fix = format!("write {{media_type}} with one of {}", names.join(", "));
        problems.add(at, "has no media type that this host publishes", fix);
    }
    if descriptor.annotations.iter().filter(|one| one.key == PUBLISHED).count() > 1 {
        problems.add(at, "is at several actions", "publish one text of a capability");
    }
    let name = annotation.at.strip_prefix("actions.").unwrap_or_default();
    let mut actions = descriptor.actions.iter();
    let internal = |access| access == Access::Internal;
    let action = actions.find(|action| action.name == name && internal(action.access));
    let has = |schema: &Result<Value, String>, field: &str| {
        let properties = schema.as_ref().ok().and_then(|schema| schema.get("properties"));
        properties.is_some_and(|all| all.get(field).is_some())
    };
    if !action.is_some_and(|action| has(&action.input, SECRET) && has(&action.output, TEXT)) {
        problems.add(
            at,
            "is not at an action of access internal that takes a secret and returns a text",
            "move it to such an action, with `secret` in its input and `text` in its output",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::tests::{action, descriptor};
    use serde_json::json;

    fn publishing(at: &str, value: Value) -> Descriptor {
        let schema = |field: &str| json!({ "type": "object", "properties": { field: {} } });
        let mut descriptor = descriptor(None);
        let mut published = action("show", Access::Internal, schema(SECRET)).descriptor;
        published.output = Ok(schema(TEXT));
        let other = action("list", Access::Read, schema(SECRET)).descriptor;
        descriptor.actions = vec![published, other];
        let key = PUBLISHED.to_owned();
        descriptor.annotations.push(Annotation { at: at.to_owned(), key, value: Ok(value) });
        descriptor
    }

    #[test]
    fn a_wrong_declaration_is_refused() {
        let calendar = json!({ "media_type": "text/calendar" });
        for (at, value, problem) in [
            ("actions.show", calendar.clone(), None),
            ("actions.show", json!({ "media_type": "text/html" }), Some("no media type")),
            ("actions.show", json!(true), Some("no media type")),
            ("actions.list", calendar.clone(), Some("not at an action")),
            ("", calendar, Some("not at an action")),
        ] {
            let descriptor = publishing(at, value.clone());
            let mut problems = Problems::default();
            check_published(&descriptor, &descriptor.annotations[0], &value, &mut problems);
            match problem {
                None => assert_eq!(problems.0.len(), 0, "{at} {value}"),
                Some(text) => assert!(problems.0[0].problem.contains(text), "{at} {value}"),
            }
        }
    }

    #[test]
    fn the_declared_action_is_found() {
        let descriptor = publishing("actions.show", json!({ "media_type": "text/calendar" }));
        let found = published(&descriptor).unwrap();
        assert_eq!((&*found.action, found.file_name), ("show", "calendar.ics"));
        assert_eq!(published(&publishing("actions.show", json!({}))), None);
    }
}
