//! Merges the definitions of several schemas: equal definitions become one, and different definitions
//! with the same name get different names.

use crate::tool::walk::{drop_formats, replace_booleans, walk, walk_mut};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KEYWORDS: [&str; 2] = ["$defs", "definitions"];
/// Keywords that tie a schema to its document: it has no meaning in another one.
const ANCHORED: [&str; 5] = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

/// The definitions of one document, keyed by the prefix of the references to them, such as `#/$defs/Name`.
#[derive(Default)]
pub(super) struct DocumentDefinitions<'a>(BTreeMap<String, &'a Value>);

/// Every definition to which a schema refers, directly or not.
type Closure = BTreeMap<String, Value>;

/// The merged definitions by their names, and the closure of each.
#[derive(Default)]
pub(super) struct Definitions {
    merged: Map<String, Value>,
    closures: BTreeMap<String, Closure>,
}

impl<'a> DocumentDefinitions<'a> {
    pub(super) fn of(document: &'a Value) -> Self {
        let mut own = BTreeMap::new();
        for keyword in KEYWORDS {
            let found = document.get(keyword).and_then(Value::as_object).into_iter().flatten();
            own.extend(found.map(|(name, schema)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("#/{keyword}/{name}"), schema)
            }));
        }
        Self(own)
    }

    /// Splits a reference into the definition with which it begins and the rest; `None` if it begins with
    /// none of these.
    fn target<'r>(&self, reference: &'r str) -> Option<(&'r str, &'r str)> {
        let ends = reference.match_indices('/').map(|(at, _)| at).skip(2);
        let end = ends.chain([reference.len()]).next().unwrap_or_default();
        let (target, rest) = reference.split_at_checked(end)?;
        self.0.contains_key(target).then_some((target, rest))
    }

    /// Returns the definitions to which a schema refers, directly or not; `None` if it is tied to
    /// its document.
    fn closure(&self, schema: &Value) -> Option<Closure> {
        let mut closure = Closure::new();
        let mut waiting = vec![schema];
        while let Some(schema) = waiting.pop() {
            let (references, anchored) = references(schema);
            if anchored {
                return None;
            }
            for reference in references {
                let (target, _) = self.target(&reference)?;
                let definition = *self.0.get(target)?;
                if closure.insert(target.to_owned(), definition.clone()).is_none() {
                    waiting.push(definition);
                }
            }
        }
        Some(closure)
    }
}

fn references(schema: &Value) -> (BTreeSet<String>, bool) {
    let (mut references, mut anchored) = (BTreeSet::new(), false);
    walk(schema, &mut |fields| {
        anchored |=
            ANCHORED.iter().any(|keyword| fields.get(*keyword).is_some_and(Value::is_string));
        if let Some(Value::String(reference)) = fields.get("$ref") {
            references.insert(reference.clone());
        }
    });
    (references, anchored)
}

impl Definitions {
    /// Returns the schema for use in another document, and adds the definitions to which it refers. A
    /// schema that is tied to its document loses its rules.
    pub(super) fn take(&mut self, own: &DocumentDefinitions<'_>, schema: &Value) -> Value {
        if own.closure(schema).is_none() {
            let description = schema.get("description").and_then(Value::as_str);
            return description.map_or_else(|| json!({}), |text| json!({ "description": text }));
        }
        let mut taken = schema.clone();
        replace_booleans(&mut taken);
        drop_formats(&mut taken);
        walk_mut(&mut taken, &mut |fields| {
            let Some(Value::String(reference)) = fields.get_mut("$ref") else { return };
            if let Some((target, rest)) = own.target(reference) {
                *reference = format!("#/$defs/{}{rest}", self.add(own, target));
            }
        });
        taken
    }

    /// Adds a definition and returns its name.
    fn add(&mut self, own: &DocumentDefinitions<'_>, target: &str) -> String {
        let Some(definition) = own.0.get(target).copied() else { return String::new() };
        let mut closure = own.closure(definition).unwrap_or_default();
        closure.insert(target.to_owned(), definition.clone());
        let first = target.rsplit('/').next().unwrap_or_default();
        let others = (2..).map(|number| format!("{first}_{number}"));
        let is_free = |name: &String| self.closures.get(name).is_none_or(|known| *known == closure);
        let mut names = std::iter::once(first.to_owned()).chain(others);
        let name = names.find(is_free).unwrap_or_default();
        // The name is recorded first, because a definition may refer to itself.
        if self.closures.insert(name.clone(), closure).is_none() {
            let taken = self.take(own, definition);
            self.merged.insert(name.replace("~1", "/").replace("~0", "~"), taken);
        }
        name
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.merged
    }
}
