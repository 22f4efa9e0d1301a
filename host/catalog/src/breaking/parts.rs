//! A part of a schema document, with its references followed.

use serde_json::Value;
use std::{collections::HashSet, slice};

/// The maximum number of references and alternatives that are followed for one value, because they can form a
/// cycle.
const DEPTH: u8 = 16;

/// The pairs of schemas that were compared. Each is compared once, because schemas can contain themselves.
#[derive(Debug, Default)]
pub(super) struct ComparedPairs(HashSet<(*const Value, *const Value)>);

impl ComparedPairs {
    /// Notes a pair. Returns whether it is new.
    pub(super) fn insert(&mut self, old: Part<'_>, new: Part<'_>) -> bool {
        self.0.insert((old.schema, new.schema))
    }
}

/// A schema within a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    document: &'a Value,
    schema: &'a Value,
    depth: u8,
}

impl<'a> Part<'a> {
    pub(super) fn of(document: &'a Value) -> Self {
        Self { document, schema: document, depth: 0 }.resolved()
    }

    /// Returns a keyword of the schema.
    pub(super) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    /// Returns the fields of an object with their schemas.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'a String, Self)> + Clone {
        let object = self.object();
        let fields = object.get("properties").and_then(Value::as_object).into_iter().flatten();
        fields.map(move |(name, schema)| (name, object.child(schema)))
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.properties().find(|(other, _)| *other == name).map(|(_, part)| part)
    }

    /// Returns the names of the required fields.
    pub(super) fn required(self) -> impl Iterator<Item = &'a str> + Clone {
        list(self.object().schema, "required").iter().filter_map(Value::as_str)
    }

    /// Returns the schema of the elements of a list.
    pub(super) fn items(self) -> Option<Self> {
        let list = self.object();
        Some(list.child(list.get("items")?))
    }

    /// Returns the names of the permitted types; empty if every type is.
    pub(super) fn types(self) -> Vec<&'a str> {
        match self.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(one) => one.as_str().into_iter().collect(),
            None => {
                let mut types = Vec::new();
                for branch in self.branches() {
                    let own = branch.types();
                    if own.is_empty() {
                        return Vec::new();
                    }
                    types.extend(
                        own.into_iter().filter(|name| !types.contains(name)).collect::<Vec<_>>(),
                    );
                }
                types
            }
        }
    }

    /// Returns the values, if the schema lists all of them.
    pub(super) fn values(self) -> Option<Vec<&'a Value>> {
        if let Some(values) = self.get("enum").and_then(Value::as_array) {
            return Some(values.iter().collect());
        }
        if let Some(value) = self.get("const") {
            return Some(slice::from_ref(value).iter().collect());
        }
        let mut branches = self.branches().filter(|branch| !branch.is_null()).peekable();
        branches.peek()?;
        let values: Option<Vec<_>> = branches.map(Self::values).collect();
        Some(values?.concat())
    }

    /// Returns the schema itself, or its only alternative that is not null.
    fn object(self) -> Self {
        let mut branches = self.branches().filter(|branch| !branch.is_null());
        match (branches.next(), branches.next()) {
            (Some(only), None) => only.object(),
            _ => self,
        }
    }

    fn branches(self) -> impl Iterator<Item = Self> {
        let branches = [list(self.schema, "oneOf"), list(self.schema, "anyOf")];
        branches.into_iter().flatten().filter_map(move |schema| self.alternative(schema))
    }

    fn is_null(self) -> bool {
        self.get("type").is_some_and(|name| name == "null")
    }

    /// Returns `schema` as the schema of a part of this schema's value.
    fn child(self, schema: &'a Value) -> Self {
        Self { schema, depth: 0, ..self }.resolved()
    }

    /// Returns `schema` as another schema of the same value; `None` if [`DEPTH`] is reached.
    fn alternative(self, schema: &'a Value) -> Option<Self> {
        let depth = self.depth + 1;
        (depth < DEPTH).then(|| Self { schema, depth, ..self }.resolved())
    }

    /// Returns the schema to which the references of this one lead, or this schema if it has none.
    fn resolved(self) -> Self {
        let reference = self.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|text| self.document.pointer(text.strip_prefix('#')?));
        target.and_then(|schema| self.alternative(schema)).unwrap_or(self)
    }
}

fn list<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the values that `others` lacks, joined by commas; `None` if it has all.
pub(super) fn values_missing_in(values: &[&Value], others: &[&Value]) -> Option<String> {
    let texts: Vec<_> =
        values.iter().filter(|value| !others.contains(value)).map(|value| text(value)).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
