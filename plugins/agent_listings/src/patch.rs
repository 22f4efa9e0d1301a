//! JSON Merge Patches (RFC 7396) of a listing's content.

use crate::{refusals::*, types::*};
use people_kit::text::Faults;
use portolan_sdk::patch;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the content with the patch applied.
pub(crate) fn patched(content: &Content, patch: Map<String, Value>) -> Result<Content> {
    let mut faults = Faults::default();
    for name in patch.keys().filter(|name| !FIELDS.split(' ').any(|field| field == *name)) {
        let name = name.replace('~', "~0").replace('/', "~1");
        faults.add(format!("/patch/{name}"), "additionalProperties", "a field that can be changed");
    }
    let mut whole = portolan_sdk::to_value(content);
    patch::merge(&mut whole, Value::Object(patch));
    let mut field = Parts { whole, faults };
    let content = Content {
        title: field.take("title"),
        description: field.take("description"),
        attributes: field.take("attributes"),
        criteria: field.optional("criteria"),
        place: field.optional("place"),
        remote: field.optional("remote"),
        compensation: field.optional("compensation"),
        valid_through: field.optional("valid_through"),
        visibility: field.optional("visibility"),
    };
    field.faults.check().map_err(ListingsError::Text)?;
    Ok(content)
}

struct Parts {
    whole: Value,
    faults: Faults,
}

impl Parts {
    fn take<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let value = self.whole.get_mut(name).map(Value::take).unwrap_or_default();
        // All other inputs are parsed from text. `from_value` would compile a second parser of each
        // type into the component.
        serde_json::from_str(&value.to_string()).unwrap_or_else(|_| {
            self.faults.add(format!("/patch/{name}"), "type", "what create takes here");
            T::default()
        })
    }

    fn optional<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        if self.whole.get(name).is_none_or(Value::is_null) {
            return T::default();
        }
        self.take(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn content() -> Content {
        let content = json!({
            "title": "Room", "description": "Nice.", "attributes": {"flatmates": 2, "pets": "allowed"},
            "place": {"lat": 1.0, "lng": 2.0, "label": "Here", "precision": "city"},
        });
        serde_json::from_value(content).unwrap()
    }

    fn patched_by(patch: Value) -> Result<Content, portolan_sdk::Refusal> {
        let Value::Object(patch) = patch else { panic!("no object") };
        patched(&content(), patch).map_err(Into::into)
    }

    #[test]
    fn omitted_fields_stay_and_null_removes() {
        let patch = json!({"attributes": {"pets": null, "flatmates": 3}, "place": {"lat": 5.0}});
        let after = patched_by(patch).unwrap();
        assert_eq!(Value::from(after.attributes), json!({"flatmates": 3}));
        let place = after.place.map(|place| (place.lat, place.label));
        assert_eq!(place, Some((5.0, Some("Here".into()))));
        assert_eq!(after.title, "Room");
        assert_eq!(patched_by(json!({"place": null})).unwrap().place, None);
        assert_eq!(patched_by(json!({})).unwrap(), content());
    }

    #[test]
    fn faults_have_their_pointer() {
        let patch = json!({"title": null, "place": {"lat": null}, "category": "home"});
        let conflict = patched_by(patch).unwrap_err().conflict.unwrap();
        let errors = conflict["errors"].as_array().unwrap().iter();
        let places: Vec<_> = errors.map(|error| error["pointer"].as_str().unwrap()).collect();
        assert_eq!(places, ["/patch/category", "/patch/title", "/patch/place"]);
    }
}
