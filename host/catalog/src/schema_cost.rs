//! The maximum work that a schema can cause, computed when it is loaded, so that no schema can occupy a
//! thread of the host for long.
//!
//! The unit is a visit: one schema applied to one value of the instance. A schema applies some of its
//! subschemas to the same value (`allOf`, `$ref`, …), and others to the value's children (`items`,
//! `properties`, …). The first kind multiplies the visits of a value, by references even exponentially;
//! the second kind does not, because an instance has a limited number of values. So the visits of an
//! instance of `n` values are at most `fixed + per_value * n`.

use percent_encoding::percent_decode_str;
use regex_automata::nfa::thompson::NFA;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The fewest bytes of JSON that a value takes: a digit and a comma.
pub(crate) const BYTES_PER_VALUE: u64 = 2;
/// The maximum depth of an instance, which is the limit of the JSON parser.
const INSTANCE_DEPTH: usize = 128;
/// The keywords whose subschemas are applied to the same value.
const IN_PLACE: [&str; 3] = ["not", "if", "$ref"];
const IN_PLACE_BRANCHES: [&str; 2] = ["then", "else"];
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// The keywords whose subschemas are applied to children, at most one of them to each child.
const CHILDREN: [&str; 4] =
    ["additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems"];
/// The keywords whose subschemas are applied to children in addition to those of other keywords.
const ADDITIONAL_CHILDREN: [&str; 2] = ["contains", "propertyNames"];
/// The keywords of references whose target depends on the path by which the reference was reached.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];
/// How often the subschemas of the same value run in a schema with a keyword `unevaluated…`, which needs to
/// know which children they have evaluated.
const UNEVALUATED_RUNS: u64 = 3;
/// The number of visits that the comparison of an array's items (`uniqueItems`) costs for each value in them.
const UNIQUE_VISITS: u64 = 4;
/// The number of visits that checking a format costs for each value.
const FORMAT_VISITS: u64 = 4;
/// The formats that are checked (JSON Schema Validation 2020-12, section 7.3). Others, such as `uint64`, are
/// only annotations.
const FORMATS: [&str; 18] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];
/// The number of states of a pattern that cost as much as one visit of each value. A character costs at most
/// one step for each state, and two bytes of a text count as one value below the text.
const STATES_PER_VISIT: u64 = 30;
/// The maximum number of states that the patterns of a schema have together. Compiling this many takes a
/// tenth of a second.
const STATES: u64 = 200_000;

/// The maximum number of visits of an instance, as a function of the number of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    fixed: u64,
    per_value: u64,
}

impl Cost {
    /// Returns the maximum number of visits of an instance of this many values.
    pub(crate) fn visits(self, values: u64) -> u64 {
        self.per_value.saturating_mul(values).saturating_add(self.fixed)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            fixed: self.fixed.saturating_add(other.fixed),
            per_value: self.per_value.saturating_add(other.per_value),
        }
    }

    fn times(self, factor: u64) -> Self {
        Self {
            fixed: self.fixed.saturating_mul(factor),
            per_value: self.per_value.saturating_mul(factor),
        }
    }

    /// Returns the cost of the schema of a document.
    ///
    /// # Errors
    ///
    /// Fails if the cost cannot be computed: for a reference that leads back to itself on the same value,
    /// or whose target is not in the document.
    pub(crate) fn of(document: &Value) -> Result<Self, String> {
        let mut graph = Graph::default();
        let root = graph.add(document, document)?;
        let densities = graph.densities()?;
        Ok(graph.cost(root, &densities))
    }
}

/// Returns the number of values in a value, itself included. The names of members count too, because
/// `propertyNames` visits them, and texts count by their lengths, because patterns visit their characters.
pub(crate) fn values_in(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => values_in_fields(fields),
        Value::Array(items) => 1 + items.iter().map(values_in).sum::<u64>(),
        Value::String(text) => values_in_text(text),
        _ => 1,
    }
}

/// Returns the number of values in an object with these members.
pub(crate) fn values_in_fields(fields: &Map<String, Value>) -> u64 {
    let field = |(name, field): (&String, &Value)| values_in_text(name) + values_in(field);
    1 + fields.iter().map(field).sum::<u64>()
}

/// Returns the number of values in a value of a schema, with which an instance is compared.
fn compared_values(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => {
            1 + fields.values().map(|field| 1 + compared_values(field)).sum::<u64>()
        }
        Value::Array(items) => 1 + items.iter().map(compared_values).sum::<u64>(),
        _ => 1,
    }
}

fn values_in_text(text: &str) -> u64 {
    1 + text.len() as u64 / BYTES_PER_VALUE
}

/// A schema of the document, with edges to its subschemas.
#[derive(Debug, Default)]
struct Node {
    /// The visits that the schema costs at one value.
    own: u64,
    /// The visits that the schema adds to every value below that one.
    below: u64,
    /// The subschemas of the same value, with the number of times that each runs.
    in_place: Vec<(usize, u64)>,
    /// The subschemas of children, each of a different child, as in `properties`.
    single: Vec<usize>,
    /// The subschemas that are applied to any number of children, at most one of them to each child.
    many: Vec<usize>,
    /// The subschemas that are applied to any number of children, in addition to the others.
    many_additional: Vec<usize>,
}

#[derive(Debug, Default)]
struct Graph {
    nodes: Vec<Node>,
    /// The numbers of the nodes by the addresses of their schemas, which stay while the graph is built.
    known: HashMap<*const Value, usize>,
    /// The states of all patterns so far.
    states: u64,
}

impl Graph {
    /// Adds a schema and all schemas that it leads to, and returns its number.
    fn add(&mut self, document: &Value, schema: &Value) -> Result<usize, String> {
        let mut waiting = vec![schema];
        let root = self.number(schema, &mut waiting);
        // The root waits twice, which does no harm.
        while let Some(schema) = waiting.pop() {
            let Some(fields) = schema.as_object() else { continue };
            let number = self.number(schema, &mut waiting);
            let node = self.read_node(document, fields, &mut waiting)?;
            if let Some(place) = self.nodes.get_mut(number) {
                *place = node;
            }
        }
        Ok(root)
    }

    /// Returns the number of a schema. A new one waits to be read.
    fn number<'a>(&mut self, schema: &'a Value, waiting: &mut Vec<&'a Value>) -> usize {
        let next = self.nodes.len();
        let number = *self.known.entry(std::ptr::from_ref(schema)).or_insert(next);
        if number == next {
            self.nodes.push(Node { own: 1, ..Node::default() });
            waiting.push(schema);
        }
        number
    }

    fn read_node<'a>(
        &mut self,
        document: &'a Value,
        fields: &'a Map<String, Value>,
        waiting: &mut Vec<&'a Value>,
    ) -> Result<Node, String> {
        let mut node = Node { own: own_visits(fields)?, ..Node::default() };
        if fields.contains_key("uniqueItems") {
            node.below = UNIQUE_VISITS;
        }
        for pattern in patterns(fields) {
            let states = states(pattern)?;
            node.below += 1 + states / STATES_PER_VISIT;
            self.states += states;
            if self.states > STATES {
                return Err(format!("has patterns of more than {STATES} states together"));
            }
        }
        if let Some(name) = DYNAMIC.into_iter().find(|name| fields.contains_key(*name)) {
            return Err(format!("uses {name}; refer to a definition with $ref"));
        }
        let unevaluated = fields.keys().any(|name| name.starts_with("unevaluated"));
        let runs = if unevaluated { UNEVALUATED_RUNS } else { 1 };
        for (name, value) in fields {
            let name = name.as_str();
            match value {
                Value::String(reference) if name == "$ref" => {
                    let target = resolve(document, reference)
                        .ok_or_else(|| format!("refers to {reference:?}, which is not in it"))?;
                    node.in_place.push((self.number(target, waiting), runs));
                }
                Value::Array(list) if IN_PLACE_LISTS.contains(&name) => {
                    for schema in list {
                        node.in_place.push((self.number(schema, waiting), runs));
                    }
                }
                Value::Array(list) if name == "prefixItems" => {
                    for schema in list {
                        node.single.push(self.number(schema, waiting));
                    }
                }
                Value::Object(list) if name == "properties" => {
                    for schema in list.values() {
                        node.single.push(self.number(schema, waiting));
                    }
                }
                Value::Object(list) if name == "patternProperties" => {
                    for schema in list.values() {
                        node.many_additional.push(self.number(schema, waiting));
                    }
                }
                Value::Object(list) if name == "dependentSchemas" => {
                    for schema in list.values() {
                        node.in_place.push((self.number(schema, waiting), runs));
                    }
                }
                _ if IN_PLACE.contains(&name) || IN_PLACE_BRANCHES.contains(&name) => {
                    node.in_place.push((self.number(value, waiting), runs));
                }
                Value::Object(_) if CHILDREN.contains(&name) => {
                    node.many.push(self.number(value, waiting));
                }
                Value::Object(_) if ADDITIONAL_CHILDREN.contains(&name) => {
                    node.many_additional.push(self.number(value, waiting));
                }
                _ => {}
            }
        }
        Ok(node)
    }

    /// Returns for each node the most visits that it can cause at one value, at any depth below the value
    /// that it is applied to.
    fn densities(&self) -> Result<Vec<u64>, String> {
        let edge = |node: &Node, next: usize| node.in_place.get(next).map(|&(schema, _)| schema);
        let (order, has_cycle) = self.post_order(edge);
        if has_cycle {
            return Err("has references that lead back to themselves on the same value".to_owned());
        }
        let mut above = vec![0_u64; self.nodes.len()];
        let mut most = vec![0_u64; self.nodes.len()];
        let at = |row: &[u64], number: usize| row.get(number).copied().unwrap_or(0);
        for depth in 0..INSTANCE_DEPTH {
            let mut row = vec![0_u64; self.nodes.len()];
            for &number in &order {
                let Some(node) = self.nodes.get(number) else { continue };
                let mut visits = if depth == 0 { node.own } else { node.below };
                for &(schema, runs) in &node.in_place {
                    visits = visits.saturating_add(at(&row, schema).saturating_mul(runs));
                }
                if depth > 0 {
                    let children = node.single.iter().chain(&node.many);
                    let largest = children.map(|&child| at(&above, child)).max().unwrap_or(0);
                    let additional = node.many_additional.iter().map(|&child| at(&above, child));
                    visits = additional.fold(visits.saturating_add(largest), u64::saturating_add);
                }
                if let Some(place) = row.get_mut(number) {
                    *place = visits;
                }
            }
            for (most, visits) in most.iter_mut().zip(&row) {
                *most = (*most).max(*visits);
            }
            above = row;
        }
        Ok(most)
    }

    /// Returns the nodes so that each comes after those that its edges lead to, and whether the edges form a
    /// cycle.
    fn post_order(&self, edge: impl Fn(&Node, usize) -> Option<usize>) -> (Vec<usize>, bool) {
        let (mut order, mut has_cycle) = (Vec::new(), false);
        let mut states = vec![State::New; self.nodes.len()];
        for start in 0..self.nodes.len() {
            // Without recursion, because references can make long chains.
            let mut path = vec![(start, 0)];
            while let Some((number, next)) = path.pop() {
                let (Some(state), Some(node)) = (states.get_mut(number), self.nodes.get(number))
                else {
                    continue;
                };
                match (next, *state) {
                    (0, State::Done) => continue,
                    (0, State::Open) => {
                        has_cycle = true;
                        continue;
                    }
                    _ => *state = State::Open,
                }
                match edge(node, next) {
                    Some(other) => path.extend([(number, next + 1), (other, 0)]),
                    None => {
                        *state = State::Done;
                        order.push(number);
                    }
                }
            }
        }
        (order, has_cycle)
    }

    /// Returns the cost of a node: the sum of the costs of its subschemas, or its density for every value if
    /// that is lower. A subschema that applies to any number of children counts with its density.
    fn cost(&self, root: usize, densities: &[u64]) -> Cost {
        let edge = |node: &Node, next: usize| {
            let in_place = node.in_place.iter().map(|&(schema, _)| schema);
            in_place.chain(node.single.iter().copied()).nth(next)
        };
        let density = |schema: usize| densities.get(schema).copied().unwrap_or(0);
        let dense = |schema: usize| Cost { fixed: 0, per_value: density(schema) };
        let mut costs: Vec<Option<Cost>> = vec![None; self.nodes.len()];
        let (order, _) = self.post_order(edge);
        for number in order {
            let Some(node) = self.nodes.get(number) else { continue };
            // A schema that leads back here counts with its density, an upper bound for every instance.
            let known = |schema: usize| costs.get(schema).copied().flatten();
            let part = |schema: usize| known(schema).unwrap_or_else(|| dense(schema));
            let in_place = node.in_place.iter().map(|&(schema, runs)| part(schema).times(runs));
            let single = node.single.iter().map(|&schema| part(schema));
            let own = Cost { fixed: node.own, per_value: node.below };
            let largest = node.many.iter().map(|&schema| density(schema)).max().unwrap_or(0);
            let additional = node.many_additional.iter().map(|&schema| density(schema));
            let children =
                Cost { fixed: 0, per_value: additional.fold(largest, u64::saturating_add) };
            let sum = in_place.chain(single).fold(own.plus(children), Cost::plus);
            let dense = dense(number);
            if let Some(place) = costs.get_mut(number) {
                *place = Some(if sum.per_value <= dense.per_value { sum } else { dense });
            }
        }
        costs.get(root).copied().flatten().unwrap_or_else(|| dense(root))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// Returns the visits that a schema's own keywords cost at one value.
fn own_visits(fields: &Map<String, Value>) -> Result<u64, String> {
    let mut visits: u64 = 1;
    for (name, value) in fields {
        visits = visits.saturating_add(match (name.as_str(), value) {
            ("enum" | "const" | "required" | "dependentRequired", value) => {
                compared_values(value) / 4
            }
            ("properties", Value::Object(list)) => list.len() as u64 / 4,
            // The validator would compile a regular expression of the instance.
            ("format", Value::String(format)) if format == "regex" => {
                return Err("uses the format \"regex\"; use a pattern".to_owned());
            }
            ("format", Value::String(format)) if FORMATS.contains(&format.as_str()) => {
                FORMAT_VISITS
            }
            _ => 0,
        });
    }
    Ok(visits)
}

/// Returns the patterns of a schema's own keywords, which are applied to a text or to the names of members.
fn patterns(fields: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let own = fields.get("pattern").and_then(Value::as_str);
    let names = fields.get("patternProperties").and_then(Value::as_object);
    own.into_iter().chain(names.into_iter().flat_map(|names| names.keys().map(String::as_str)))
}

/// Returns the number of a pattern's states.
fn states(pattern: &str) -> Result<u64, String> {
    let nfa = NFA::compiler()
        .configure(NFA::config().nfa_size_limit(Some(1 << 20)))
        .build(pattern)
        .map_err(|error| format!("has the pattern {pattern:?}, which cannot be used: {error}"))?;
    Ok(nfa.states().len() as u64)
}

/// Returns the schema that a reference within the document leads to; `None` if there is none.
fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() {
        return Some(document);
    }
    if fragment.starts_with('/') {
        let decoded = percent_decode_str(fragment).decode_utf8().ok()?;
        return document.pointer(&decoded);
    }
    anchored(document, fragment)
}

/// Returns the schema with this `$anchor`.
fn anchored<'a>(value: &'a Value, anchor: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => match fields.get("$anchor").and_then(Value::as_str) {
            Some(name) if name == anchor => Some(value),
            _ => fields.values().find_map(|field| anchored(field, anchor)),
        },
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod visits;
