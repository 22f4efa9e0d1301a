//! The story that the demonstration plays, as `examples/demo/story.json` tells it.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const STORY: &str = include_str!("../../../../../examples/demo/story.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// The capabilities that the host must have.
    pub(super) needs: Vec<String>,
    pub(super) person: PersonTemplate,
    /// Templates for two people whose listings fit each other, used in turn.
    pub(super) pairs: Vec<PairTemplate>,
    /// The lists that [`Draw::OneOf`] can name.
    pub(super) lists: BTreeMap<String, Vec<Value>>,
    /// The possible endings of a pair's story, used in turn.
    pub(super) endings: Vec<Ending>,
    pub(super) group: Group,
    pub(super) scenes: BTreeMap<String, Vec<Step>>,
    /// Capabilities and inputs to try afterwards.
    pub(super) look_around: Vec<(String, Value)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonTemplate {
    pub(super) draw: BTreeMap<String, Draw>,
    pub(super) name: String,
    /// The calls that each person's agent makes first. The person's listing is the value `listing`.
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairTemplate {
    pub(super) draw: BTreeMap<String, Draw>,
    pub(super) listings: [Value; 2],
}

/// A value that is chosen at random.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Draw {
    /// One of these values, or of the list with this name.
    OneOf { one_of: Choices },
    /// An integer between `from` and `to`, both inclusive.
    Range { from: i64, to: i64 },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Choices {
    Listed(String),
    These(Vec<Value>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ending {
    pub(super) scenes: Vec<String>,
    pub(super) says: String,
}

/// The scene of the first people of all pairs together, after those of the pairs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    /// The number of people.
    pub(super) people: usize,
    pub(super) scene: String,
    pub(super) says: String,
}

/// One call of an agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// The number of the person whose agent calls, from 0.
    #[serde(default)]
    pub(super) by: usize,
    /// The capability.
    pub(super) call: String,
    pub(super) action: String,
    pub(super) input: Value,
    /// The JSON pointer to the address in the result to which the picture of the demonstration is sent.
    pub(super) sends: Option<String>,
    /// The part of the result that `keep` reads; the whole result if it is left out.
    pub(super) find: Option<Find>,
    /// The JSON pointers to the values to which later steps refer by name.
    #[serde(default)]
    pub(super) keep: BTreeMap<String, String>,
}

/// The first element of a list whose member equals a value. If there is none yet, the call is made again for some
/// seconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    #[serde(rename = "in")]
    pub(super) list: String,
    pub(super) member: String,
    pub(super) equals: Value,
}

impl Story {
    pub(super) fn read() -> anyhow::Result<Self> {
        serde_json::from_str(STORY).context("the story of the demonstration cannot be read")
    }

    /// Returns the steps of the group.
    pub(super) fn group_steps(&self) -> impl Iterator<Item = &Step> {
        self.scenes.get(&self.group.scene).into_iter().flatten()
    }

    /// Returns the steps of an ending, in their order.
    pub(super) fn steps<'a>(&'a self, ending: &'a Ending) -> impl Iterator<Item = &'a Step> {
        ending.scenes.iter().filter_map(|scene| self.scenes.get(scene)).flatten()
    }
}

/// Replaces each `{path}` in the texts of a template with the value at this path, such as `place.label` or
/// `pay.0`. A text that is only one `{path}` becomes the value itself, which may be a number or an object.
pub(super) fn fill(template: &Value, values: &Map<String, Value>) -> anyhow::Result<Value> {
    Ok(match template {
        Value::String(text) => fill_text(text, values)?,
        Value::Array(items) => {
            items.iter().map(|item| fill(item, values)).collect::<Result<_, _>>()?
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| anyhow::Ok((name.clone(), fill(member, values)?)))
            .collect::<Result<Map<_, _>, _>>()?
            .into(),
        other => other.clone(),
    })
}

fn fill_text(text: &str, values: &Map<String, Value>) -> anyhow::Result<Value> {
    let single_path = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some(path) = single_path.filter(|path| !path.contains(['{', '}'])) {
        return find_value(path, values).cloned();
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('{') {
        let (path, after) = from.split_once('}').context("a brace of the story is not closed")?;
        filled.push_str(before);
        match find_value(path, values)? {
            Value::String(value) => filled.push_str(value),
            value => filled.push_str(&value.to_string()),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}

fn find_value<'a>(path: &str, values: &'a Map<String, Value>) -> anyhow::Result<&'a Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let pointer = match rest {
        "" => String::new(),
        rest => format!("/{}", rest.replace('.', "/")),
    };
    let value = values.get(first).and_then(|value| value.pointer(&pointer));
    value.with_context(|| format!("the story needs {path}, which no earlier step has kept"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_are_filled_with_texts_and_values() {
        let values = json!({ "pay": [1, 2], "place": { "label": "Here" }, "name": "Ada" });
        let values = values.as_object().unwrap();
        let template = json!({ "min": "{pay.0}", "at": "{place.label}, {name}", "is": true });
        assert_eq!(
            fill(&template, values).unwrap(),
            json!({ "min": 1, "at": "Here, Ada", "is": true })
        );
        assert!(fill(&json!("{place.lat}"), values).is_err());
    }

    #[test]
    fn every_ending_has_its_scenes() {
        let story = Story::read().unwrap();
        for ending in &story.endings {
            assert!(ending.scenes.iter().all(|scene| story.scenes.contains_key(scene)));
        }
        assert!(story.group_steps().next().is_some());
        for (name, scene) in &story.scenes {
            let people = if *name == story.group.scene { story.group.people } else { 2 };
            for step in scene {
                assert!(story.needs.contains(&step.call) && step.by < people, "{step:?}");
            }
        }
    }
}
