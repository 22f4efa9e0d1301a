//! The criteria that a listing can have for its counterparts, derived from the schema of their
//! attributes.

use crate::{attributes, taxonomy::Node};
pub(crate) use people_kit::taxonomy::{DISTANCE, Operator};
use portolan_sdk::prelude::*;
use serde_json::Value;

/// Where the value of a criterion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// The other listing's `attributes`.
    Attributes,
    /// The other listing itself: its place, its pay, whether it is remote.
    Listing,
}

/// A field that `criteria` and search filters can use.
#[output]
pub(crate) struct Criterion {
    pub(crate) field: String,
    pub(crate) operators: &'static [Operator],
    pub(crate) description: String,
    pub(crate) source: Source,
    /// The type of the values: `string`, `date`, `integer`, `number` or `boolean`.
    pub(crate) value_type: String,
    /// The allowed values, if they are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<Value>,
}

const EQUAL: &[Operator] = &[Operator::Eq, Operator::In];
const ORDERED: &[Operator] = &[Operator::Eq, Operator::In, Operator::Gte, Operator::Lte];

/// Returns the criteria by which listings of this category can be selected.
pub(crate) fn about(node: &Node) -> Vec<Criterion> {
    let schema = node.attributes.map(attributes::schema);
    let properties = schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
    let attributes = properties.into_iter().flatten();
    let attributes = attributes.filter_map(|(name, property)| attribute(name, property));
    let of_listing = node.listing_criteria.iter().filter_map(|name| of_listing(name, node));
    let prohibited = node.policy.prohibited_criteria;
    let is_allowed = |criterion: &Criterion| !prohibited.contains(&criterion.field.as_str());
    attributes.chain(of_listing).filter(is_allowed).collect()
}

/// Returns the criterion for an attribute; `None` for free text, which is not compared, and where
/// `x-criterion` is false. Lists of short texts are compared.
fn attribute(name: &str, property: &Value) -> Option<Criterion> {
    if property.get("x-criterion") == Some(&Value::Bool(false)) {
        return None;
    }
    let text = |schema: &Value, keyword: &str| Some(schema.get(keyword)?.as_str()?.to_owned());
    let (value, is_list) = match property.get("items") {
        Some(items) => (items, true),
        None => (property, false),
    };
    let values = value.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut value_type = text(value, "type")?;
    let is_date = text(value, "format").is_some_and(|format| format == "date");
    let operators = match value_type.as_str() {
        "string" if is_date => ORDERED,
        "integer" | "number" if !is_list => ORDERED,
        "string" if values.is_empty() && !is_list && value.get("pattern").is_none() => return None,
        _ => EQUAL,
    };
    if is_date {
        value_type = "date".into();
    }
    Some(Criterion {
        field: name.into(),
        operators,
        description: text(property, "description").unwrap_or_default(),
        source: Source::Attributes,
        value_type,
        values,
    })
}

/// The criteria that are fields of the listing itself: name, type of the values, operators and
/// description.
const OF_LISTING: [(&str, &str, &[Operator], &str); 3] = [
    (DISTANCE, "number", &[Operator::Lte], "Kilometres between the two listings' places."),
    ("remote", "boolean", &[Operator::Eq], "Whether the listing can be dealt with from anywhere."),
    (
        "compensation",
        "number",
        &[Operator::Gte, Operator::Lte],
        "Pay, rent or price in the currency and unit of your own `compensation`.",
    ),
];

fn of_listing(name: &str, node: &Node) -> Option<Criterion> {
    let (field, value_type, operators, description) =
        OF_LISTING.iter().find(|(known, ..)| *known == name)?;
    let mut description = (*description).to_owned();
    if let (DISTANCE, Some(floor)) = (*field, node.policy.min_radius_km) {
        description.push_str(&format!(" Not less than {floor}."));
    }
    Some(Criterion {
        field: (*field).into(),
        operators,
        description,
        source: Source::Listing,
        value_type: (*value_type).into(),
        values: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
