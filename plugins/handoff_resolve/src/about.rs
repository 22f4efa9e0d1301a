//! The records that a handoff is about, by name: the record itself, and those that it names.

use crate::{
    draft::value_at,
    types::{About, AboutKind, TARGETS},
};
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

/// The maximum number of investors that are named, and of characters of a name.
const INVESTORS: usize = 5;
const NAME_CHARS: usize = 200;

/// The path of the name in the records of a feed, and their kind.
const NAMES: [(&str, &str, AboutKind); 4] = [
    ("roles", "title", AboutKind::Role),
    ("people", "full_name", AboutKind::Person),
    ("signals", "headline", AboutKind::Signal),
    ("targets", "properties.name", AboutKind::Company),
];

/// Returns the records that a handoff from this record is about.
pub(crate) fn about(
    feed: &str,
    id: &str,
    record: &Map<String, Value>,
) -> Result<Vec<About>, HostError> {
    let mut about: Vec<About> = named(feed, id, record).into_iter().collect();
    let investors = value_at(record, "funding.investors").and_then(Value::as_array);
    about.extend(investors.into_iter().flatten().filter_map(investor).take(INVESTORS));
    if let Some(Value::String(target_id)) = value_at(record, "target_id") {
        let target = TARGETS.get(target_id)?;
        about.extend(target.and_then(|target| named("targets", target_id, &target.value)));
    }
    Ok(about)
}

fn named(feed: &str, id: &str, record: &Map<String, Value>) -> Option<About> {
    let (feed, path, kind) = NAMES.into_iter().find(|(known, _, _)| *known == feed)?;
    let name = shortened(value_at(record, path)?.as_str()?);
    Some(About { kind, feed, id: id.to_owned(), name })
}

/// Returns an investor who is on the map.
fn investor(investor: &Value) -> Option<About> {
    let text = |name: &str| investor.get(name).and_then(Value::as_str);
    let (id, name) = (text("target_id")?.to_owned(), shortened(text("name")?));
    Some(About { kind: AboutKind::Investor, feed: "targets", id, name })
}

fn shortened(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_is_named_as_what_it_is() {
        let role = json!({ "title": "Engineer", "target_id": "tgt_1" });
        let role = named("roles", "rol_1", role.as_object().unwrap()).unwrap();
        assert_eq!((&*role.name, role.feed, &*role.id), ("Engineer", "roles", "rol_1"));
        let target = json!({ "properties": { "name": "x".repeat(300) } });
        let target = named("targets", "tgt_1", target.as_object().unwrap()).unwrap();
        assert_eq!(target.name.len(), NAME_CHARS);
        assert!(named("questions", "qst_1", &Map::new()).is_none());
        assert!(investor(&json!({ "name": "A fund", "target_id": null })).is_none());
        assert_eq!(
            investor(&json!({ "name": "A fund", "target_id": "tgt_2" })).unwrap().id,
            "tgt_2"
        );
    }
}
