//! Checks that a listing has what its category requires, and that its criteria use nothing
//! prohibited.

use crate::{
    attributes,
    criteria::{self, Criterion as Usable, DISTANCE, Operator},
    keys, protected,
    taxonomy::{self, Node, Policy},
    validate::{self, is_date, violation},
};
use people_kit::taxonomy::{
    Breach, Category, CheckInput, Checked, Criterion, Policy as Rules, TaxonomyError, Violation,
};
use portolan_sdk::view;
use serde_json::{Value, json};

/// The maximum number of characters of a free text in a criterion. Such a text is compared as a
/// whole, so a longer one would find nothing.
const LONGEST_VALUE: usize = 200;
const MOST_VALUES: usize = 50;

/// Checks a listing on the day `today` (RFC 3339).
pub(crate) fn listing(
    node: &'static Node,
    input: CheckInput,
    today: &str,
) -> Result<Checked, TaxonomyError> {
    let CheckInput { code, side, attributes, criteria, text } = input;
    let (Some(schema), Some((counterpart, counterpart_side))) =
        (node.attributes, taxonomy::counterpart(node, side))
    else {
        return Err(crate::grouping(node, "/category").into());
    };
    let mut errors = validate::attributes(&attributes::schema(schema), &attributes);
    let usable = criteria::about(counterpart);
    let mut found = Vec::new();
    for (list, kind) in [(&criteria.must, "must"), (&criteria.want, "want")] {
        for (index, criterion) in list.iter().enumerate() {
            let pointer = format!("/criteria/{kind}/{index}");
            check_criterion(&usable, counterpart, criterion, &pointer, &mut errors, &mut found);
        }
    }
    if !found.is_empty() {
        return Err(TaxonomyError::CriteriaProhibited { code, found });
    }
    if !errors.is_empty() {
        return Err(TaxonomyError::AttributesInvalid { code, side, errors });
    }
    let attributes = validate::normal(attributes);
    let mut said = listing_answers::extract_values(node.code, &text, today);
    let keys = keys::of(&attributes, &said, &criteria::about(node));
    let words = listing_answers::index_words(&text, [&attributes, &said]);
    // After the words, because searches read only the beginning of a description.
    listing_answers::add_wishes(&mut said, node.code, &text, today);
    let synonyms = taxonomy::lineage(node).flat_map(|node| owned(node.synonyms));
    Ok(Checked {
        category: Category {
            label: node.label.to_owned(),
            synonyms: synonyms.collect(),
            schema_org_type: node.schema_org_type.to_owned(),
            counterpart: counterpart.code.to_owned(),
            counterpart_side,
        },
        policy: rules(&node.policy),
        attributes,
        said,
        words,
        gist: listing_answers::gist(&text),
        keys,
    })
}

fn rules(policy: &Policy) -> Rules {
    view!(policy => Rules {
        min_age, default_ttl_days, proposal_cost, min_radius_km;
        prohibited_criteria: owned(policy.prohibited_criteria),
        default_visibility: policy.default_visibility.to_owned(),
    })
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn check_criterion(
    usable: &[Usable],
    counterpart: &Node,
    criterion: &Criterion,
    pointer: &str,
    errors: &mut Vec<Violation>,
    found: &mut Vec<Breach>,
) {
    let policy = &counterpart.policy;
    let field = criterion.field.as_str();
    let Some(known) = usable.iter().find(|usable| usable.field == field) else {
        let at = format!("{pointer}/field");
        match prohibited_name(policy, field) {
            Some(prohibited) => found.push(Breach { pointer: at, prohibited }),
            None => errors.push(violation(&at, "enum", names(usable))),
        }
        return;
    };
    errors.extend(value(known, criterion.op, &criterion.value, pointer, "value"));
    found.extend(prohibited_values(policy, known, &criterion.value, &format!("{pointer}/value")));
    let radius = criterion.value.as_f64().filter(|_| field == DISTANCE);
    if radius.is_some_and(|radius| is_too_near(policy, radius)) {
        found.push(Breach { pointer: format!("{pointer}/value"), prohibited: DISTANCE });
    }
}

pub(crate) fn names(usable: &[Usable]) -> Value {
    usable.iter().map(|usable| usable.field.as_str()).collect()
}

pub(crate) fn is_too_near(policy: &Policy, radius_km: f64) -> bool {
    policy.min_radius_km.is_some_and(|least| radius_km < f64::from(least))
}

/// Returns the prohibited class that a field's name means.
pub(crate) fn prohibited_name(policy: &Policy, field: &str) -> Option<&'static str> {
    protected::by_name(field).filter(|class| policy.prohibited_criteria.contains(class))
}

/// Returns the prohibited classes that a value means, in fields in which people write their own
/// words.
pub(crate) fn prohibited_values(
    policy: &Policy,
    usable: &Usable,
    value: &Value,
    pointer: &str,
) -> Vec<Breach> {
    if usable.value_type != "string" || !usable.values.is_empty() {
        return Vec::new();
    }
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let classes = values.iter().filter_map(|value| protected::by_value(value.as_str()?));
    classes
        .filter(|class| policy.prohibited_criteria.contains(class))
        .map(|prohibited| Breach { pointer: pointer.to_owned(), prohibited })
        .collect()
}

/// Returns what is wrong with a comparison; `member` is the name of its value below `pointer`.
pub(crate) fn value(
    usable: &Usable,
    op: Operator,
    value: &Value,
    pointer: &str,
    member: &str,
) -> Option<Violation> {
    let at = format!("{pointer}/{member}");
    if !usable.operators.contains(&op) {
        return Some(violation(pointer, "operator", portolan_sdk::to_value(usable.operators)));
    }
    if op != Operator::In {
        return single(usable, value, &at);
    }
    match value.as_array() {
        Some(values) if (1..=MOST_VALUES).contains(&values.len()) => {
            let mut values = values.iter().enumerate();
            values.find_map(|(index, value)| single(usable, value, &format!("{at}/{index}")))
        }
        Some(_) => Some(violation(&at, "maxItems", MOST_VALUES)),
        None => Some(violation(&at, "type", "array")),
    }
}

fn single(usable: &Usable, value: &Value, at: &str) -> Option<Violation> {
    let fits = match usable.value_type.as_str() {
        "string" => value.as_str().is_some_and(|text| text.chars().count() <= LONGEST_VALUE),
        "date" => value.as_str().is_some_and(is_date),
        "boolean" => value.is_boolean(),
        _ => value.is_number(),
    };
    if !fits {
        return Some(violation(at, "type", usable.value_type.clone()));
    }
    let listed = usable.values.is_empty() || usable.values.contains(value);
    (!listed).then(|| violation(at, "enum", json!(usable.values)))
}

#[cfg(test)]
mod tests;
