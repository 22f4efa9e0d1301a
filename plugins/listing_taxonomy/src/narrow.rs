//! Translates a search's filters into comparisons of keys.

use crate::{
    check::{is_too_near, names, prohibited_name, prohibited_values, value},
    criteria::{self, Criterion as Usable, DISTANCE, Operator, Source},
    keys,
    taxonomy::{self, Node, Policy},
    validate::violation,
};
use people_kit::taxonomy::{
    Breach, Comparison, NarrowInput, Narrowed, Side, TaxonomyError, Violation,
};
use portolan_sdk::{ErrorCode, Refusal};
use serde_json::{Value, json};

pub(crate) fn search(
    node: Option<&'static Node>,
    input: &NarrowInput,
) -> Result<Narrowed, TaxonomyError> {
    let nodes = taxonomy::subtree(node.map(|node| node.code)).unwrap_or_default();
    let policy = strictest(nodes);
    let mut narrowed = Narrowed {
        min_age: node.and_then(|node| node.policy.min_age),
        q: input.q.as_deref().map(listing_answers::expand_query),
        ..Narrowed::default()
    };
    let (mut errors, mut found) = (Vec::new(), Vec::new());
    if let (Some(radius), Some(policy)) = (input.radius_km, policy)
        && is_too_near(policy, radius)
    {
        found.push(Breach { pointer: "/near/radius_km".into(), prohibited: DISTANCE });
    }
    let usable = if input.filters.is_empty() { Vec::new() } else { usable(nodes) };
    for (field, comparison) in &input.filters {
        let pointer = format!("/filters/{}", field.replace('~', "~0").replace('/', "~1"));
        let known: Vec<&Usable> = usable.iter().filter(|usable| usable.field == *field).collect();
        if known.is_empty() {
            match policy.and_then(|policy| prohibited_name(policy, field)) {
                Some(prohibited) => found.push(Breach { pointer, prohibited }),
                None => errors.push(violation(&pointer, "enum", names(&usable))),
            }
            continue;
        }
        if let (Some(policy), Some(known)) = (policy, known.first()) {
            let lists = [&comparison.one_of, &comparison.not_in];
            let given = comparison.eq.iter().chain(lists.into_iter().flatten().flatten());
            found.extend(given.flat_map(|given| prohibited_values(policy, known, given, &pointer)));
        }
        match violation_of(&known, comparison, &pointer) {
            Some(error) => errors.push(error),
            None => compare(field, comparison, &mut narrowed),
        }
    }
    narrowed.not_facts.sort_unstable();
    narrowed.not_facts.dedup();
    if !found.is_empty() {
        let code = node.or(nodes.first()).map_or("", |node| node.code).to_owned();
        return Err(TaxonomyError::FilterProhibited { code, found });
    }
    if !errors.is_empty() {
        return Err(invalid(node, errors));
    }
    Ok(narrowed)
}

/// Returns the strictest policy: the rules of a category apply to every search that includes it.
fn strictest(nodes: &'static [Node]) -> Option<&'static Policy> {
    let policies = nodes.iter().map(|node| &node.policy);
    policies.max_by_key(|policy| (policy.prohibited_criteria.len(), policy.min_radius_km))
}

/// Returns the filters that some of these categories have. Categories with the same attributes are
/// read once.
fn usable(nodes: &'static [Node]) -> Vec<Usable> {
    let mut seen: Vec<&str> = Vec::new();
    let mut usable = Vec::new();
    for node in nodes {
        let Some(schema) = node.attributes else { continue };
        if !seen.contains(&schema) {
            seen.push(schema);
            let about = criteria::about(node).into_iter();
            usable.extend(about.filter(|usable| usable.source == Source::Attributes));
        }
    }
    usable
}

/// Returns what is wrong with a comparison; `None` if it is right in at least one category that has
/// the field.
fn violation_of(known: &[&Usable], comparison: &Comparison, pointer: &str) -> Option<Violation> {
    let list = comparison.one_of.clone().map(Value::from);
    let without = comparison.not_in.clone().map(Value::from);
    let parts = [
        (Operator::Eq, "eq", comparison.eq.as_ref()),
        (Operator::In, "in", list.as_ref()),
        (Operator::In, "not_in", without.as_ref()),
        (Operator::Gte, "gte", comparison.gte.as_ref()),
        (Operator::Lte, "lte", comparison.lte.as_ref()),
    ];
    if parts.iter().all(|(.., given)| given.is_none()) {
        return Some(violation(
            pointer,
            "minProperties",
            json!(["eq", "in", "not_in", "gte", "lte"]),
        ));
    }
    parts.into_iter().find_map(|(op, member, given)| {
        let given = given?;
        let wrong: Option<Vec<Violation>> =
            known.iter().map(|usable| value(usable, op, given, pointer, member)).collect();
        wrong?.into_iter().next()
    })
}

fn compare(field: &str, comparison: &Comparison, narrowed: &mut Narrowed) {
    let fact = |value: &Value| keys::fact(field, value);
    narrowed.facts.extend(comparison.eq.iter().map(|value| vec![fact(value)]));
    narrowed.facts.extend(comparison.one_of.iter().map(|list| list.iter().map(fact).collect()));
    narrowed.not_facts.extend(comparison.not_in.iter().flatten().map(fact));
    if comparison.gte.is_some() || comparison.lte.is_some() {
        let bounds = keys::bounds(field, comparison.gte.as_ref(), comparison.lte.as_ref());
        narrowed.ranks.push(bounds);
    }
}

fn invalid(node: Option<&Node>, errors: Vec<Violation>) -> TaxonomyError {
    match node.and_then(|node| Some((node, *node.sides.first()?))) {
        Some((node, side)) => attributes_of(node, side, errors),
        None => {
            let message = "A filter is not acceptable: see conflict.";
            let refusal = Refusal::common(ErrorCode::ValidationFailed, message);
            let conflict = json!({ "kind": "validation", "errors": errors });
            TaxonomyError::Common(refusal.conflict(&conflict).next(crate::tree()))
        }
    }
}

/// Makes the refusal. The filters of a search are about the category itself, so the `fields` of its
/// counterpart list them.
fn attributes_of(node: &Node, side: Side, errors: Vec<Violation>) -> TaxonomyError {
    let (code, side) = taxonomy::counterpart(node, side)
        .map_or((node.code, side), |(counterpart, side)| (counterpart.code, side));
    TaxonomyError::AttributesInvalid { code: code.to_owned(), side, errors }
}
