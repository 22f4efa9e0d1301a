//! The categories, and the attributes of each kind of listing.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt::Write};

#[derive(Deserialize)]
pub(crate) struct Root {
    #[serde(default)]
    policy: Policy,
    branch: Vec<Branch>,
    #[serde(default)]
    pub(crate) topic: Vec<Topic>,
}

#[derive(Default, Deserialize)]
struct Policy {
    min_age: Option<u8>,
}

#[derive(Deserialize)]
struct Branch {
    code: String,
    #[serde(default)]
    sides: Vec<String>,
    counterpart: Option<String>,
    attributes: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Topic {
    pub(crate) name: String,
    below: Vec<String>,
    pub(crate) topic: String,
    pub(crate) synonyms: Vec<String>,
    /// Occupations: the relation of the topic to each, its code and its title.
    #[serde(default)]
    pub(crate) isco08: Vec<(String, String, String)>,
    #[serde(default)]
    pub(crate) onet_soc: Vec<(String, String, String)>,
    #[serde(default, rename = "in")]
    within: BTreeMap<String, Variation>,
}

#[derive(Deserialize)]
struct Variation {
    attributes: Option<String>,
}

/// Returns the table of the categories that can have listings, as Rust source.
pub(crate) fn categories(roots: &[Root]) -> Result<String> {
    let mut text = String::from("pub(crate) static CATEGORIES: &[Category] = &[\n");
    for root in roots {
        let min_age = root.policy.min_age.unwrap_or(0);
        for branch in &root.branch {
            let (Some(counterpart), Some(kind)) = (&branch.counterpart, &branch.attributes) else {
                continue;
            };
            let mut add = |code: &str, kind: &str, counterpart: &str| {
                writeln!(
                    text,
                    "Category {{ code: {code:?}, kind: {kind:?}, counterpart: {counterpart:?}, sides: &{:?}, min_age: {min_age} }},",
                    branch.sides
                )
            };
            add(&branch.code, kind, counterpart)?;
            for topic in root.topic.iter().filter(|topic| topic.below.contains(&branch.code)) {
                let own = topic.within.get(&branch.code).and_then(|own| own.attributes.as_ref());
                let code = |of: &str| format!("{of}.{}", topic.name);
                add(&code(&branch.code), own.unwrap_or(kind), &code(counterpart))?;
            }
        }
    }
    text.push_str("];\n");
    Ok(text)
}

#[derive(Deserialize)]
pub(crate) struct File {
    #[serde(default)]
    types: BTreeMap<String, Map<String, Value>>,
    #[serde(default)]
    attributes: BTreeMap<String, Kind>,
}

#[derive(Deserialize)]
struct Kind {
    required: Vec<String>,
    properties: BTreeMap<String, Map<String, Value>>,
}

#[derive(Default)]
pub(crate) struct Attributes {
    types: BTreeMap<String, Map<String, Value>>,
    kinds: BTreeMap<String, Kind>,
}

/// The fields of every listing that rules can name in addition to attributes; the last two are only
/// read from texts.
const OF_LISTING: [&str; 5] = ["compensation", "place", "title", "persons", "max_persons"];

impl Attributes {
    pub(crate) fn add(&mut self, file: File) {
        self.types.extend(file.types);
        self.kinds.extend(file.attributes);
    }

    /// Checks that there is a kind.
    pub(crate) fn check_kind(&self, kind: &str) -> Result<()> {
        self.kinds.get(kind).map(drop).with_context(|| format!("there is no kind {kind}"))
    }

    /// Checks that a kind has an attribute.
    pub(crate) fn check(&self, kind: &str, name: &str) -> Result<()> {
        let known = self.kinds.get(kind).with_context(|| format!("there is no kind {kind}"))?;
        let is_known = OF_LISTING.contains(&name) || known.properties.contains_key(name);
        is_known.then_some(()).with_context(|| format!("{kind} has no attribute {name}"))
    }

    /// Checks that an attribute can have these values, if its values are listed.
    pub(crate) fn check_values(&self, kind: &str, name: &str, values: &[String]) -> Result<()> {
        self.check(kind, name)?;
        let Some(property) = self.kinds.get(kind).and_then(|kind| kind.properties.get(name)) else {
            return Ok(());
        };
        let named = ["is", "list_of"].iter().find_map(|keyword| property.get(*keyword)?.as_str());
        let listed = named
            .and_then(|named| self.types.get(named)?.get("enum"))
            .or_else(|| property.get("enum"))
            .and_then(Value::as_array);
        for value in values {
            let fits = match listed {
                Some(listed) => listed.iter().any(|listed| listed == value.as_str()),
                None => true,
            };
            fits.then_some(()).with_context(|| format!("{kind}.{name} is never {value}"))?;
        }
        Ok(())
    }

    /// Whether every listing of the kind has facts of the attribute.
    pub(crate) fn is_indexed(&self, kind: &str, name: &str) -> bool {
        self.kinds.get(kind).is_some_and(|kind| {
            let usable = |property: &Map<String, Value>| {
                property.get("x-criterion") != Some(&Value::Bool(false))
            };
            kind.required.iter().any(|required| required == name)
                && kind.properties.get(name).is_some_and(usable)
        })
    }

    /// Whether the attribute is a list.
    pub(crate) fn is_list(&self, kind: &str, name: &str) -> bool {
        let property = self.kinds.get(kind).and_then(|kind| kind.properties.get(name));
        property.is_some_and(|property| property.contains_key("list_of"))
    }
}
