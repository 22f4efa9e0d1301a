//! Amounts and numbers that the text of a listing states otherwise than its fields.

use crate::{documents::*, types::*};
use people_kit::{listings::NO_CURRENCY, taxonomy::is_within};
use portolan_sdk::{prelude::*, to_value};

/// The part by which two numbers, or two amounts for the same period, may differ.
const TOLERANCE: f64 = 0.01;
/// The part by which amounts for different periods may differ, because their conversion is not exact.
const TOLERANCE_OF_PERIODS: f64 = 0.15;
/// The attribute whose contradictions are refused.
const REFUSED: &str = "age";

/// A field with another value than the title or the description.
#[output]
pub(crate) struct Contradiction {
    /// A JSON Pointer to the field, such as `/compensation` or `/attributes/bedrooms`.
    field: String,
    /// The value of the field. Searches use it.
    stated: Value,
    /// The value in the text.
    said: Value,
}

/// Returns the fields that contradict the text of a listing.
pub(crate) fn find(listing: &Listing) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let said = |name: &str| listing.said.get(name);
    if let (Some(stated), Some(said)) = (&listing.content.compensation, said("compensation"))
        && differ(stated, said, is_within(&listing.category, "home"))
    {
        let field = "/compensation".to_owned();
        found.push(Contradiction { field, stated: to_value(stated), said: said.clone() });
    }
    for (name, stated) in &listing.content.attributes {
        let numbers = stated.as_f64().zip(said(name).and_then(Value::as_f64));
        if let (Some((one, other)), Some(said)) = (numbers, said(name))
            && name != REFUSED
            && (one - other).abs() > TOLERANCE * one.abs().max(other.abs())
        {
            let field = format!("/attributes/{name}");
            found.push(Contradiction { field, stated: stated.clone(), said: said.clone() });
        }
    }
    found
}

/// Returns whether two ranges of pay, rent or price have another currency, or nothing in common. A value
/// from a text may have no currency.
fn differ(stated: &Compensation, said: &Value, is_home: bool) -> bool {
    let Ok(mut said) = serde_json::from_value::<Compensation>(said.clone()) else { return false };
    if said.currency == NO_CURRENCY {
        said.currency.clone_from(&stated.currency);
    }
    if said.currency != stated.currency {
        return true;
    }
    let ((kind, factor), (said_kind, said_factor)) = (stated.yearly(is_home), said.yearly(is_home));
    if kind != said_kind {
        // A single payment is not compared with a monthly one.
        return false;
    }
    let tolerance = if stated.unit == said.unit { TOLERANCE } else { TOLERANCE_OF_PERIODS };
    let ((low, high), (said_low, said_high)) = (stated.range(), said.range());
    let is_below = |high: f64, factor: f64, low: f64, low_factor: f64| {
        high < f64::MAX && high * factor * (1.0 + tolerance) < low * low_factor
    };
    is_below(high, factor, said_low, said_factor) || is_below(said_high, said_factor, low, factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(category: &str, content: Value, said: Value) -> Listing {
        let about = json!({
            "label": "Any", "synonyms": [], "schema_org_type": "Thing",
            "counterpart": category, "counterpart_side": "demand",
        });
        let mut fields = json!({ "title": "Any", "description": "Any.", "attributes": {} });
        fields.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        let listing = json!({
            "owner_id": "own_1", "category": category, "side": "offer", "about": about,
            "content": fields, "min_age": 0, "ttl_days": 60, "visibility": "public",
            "keys": { "facts": [], "ranks": [] }, "said": said, "excerpt": "", "state": "draft",
            "changed_at": 0, "flags": [], "cleared": false, "times_published": 0, "active_ms": 0,
        });
        serde_json::from_value(listing).unwrap()
    }

    #[test]
    fn an_amount_that_the_text_contradicts_is_named() {
        let amount = |currency: &str, min: f64, max: f64, unit: &str| json!({ "currency": currency, "min": min, "max": max, "unit": unit });
        for (category, stated, said, is_contradicted) in [
            (
                "home.let",
                amount("USD", 2500.0, 2500.0, "MONTH"),
                amount("USD", 1500.0, 1500.0, "MONTH"),
                true,
            ),
            (
                "home.let",
                amount("USD", 1500.0, 1500.0, "MONTH"),
                amount("EUR", 1500.0, 1500.0, "MONTH"),
                true,
            ),
            (
                "home.let",
                amount("USD", 1500.0, 1500.0, "MONTH"),
                amount(NO_CURRENCY, 1500.0, 1500.0, "MONTH"),
                false,
            ),
            (
                "home.let",
                amount("USD", 1400.0, 1600.0, "MONTH"),
                amount("USD", 1500.0, 1500.0, "MONTH"),
                false,
            ),
            (
                "home.let",
                amount("USD", 1500.0, 1500.0, "MONTH"),
                amount("USD", 3000.0, 3000.0, "ONCE"),
                false,
            ),
            (
                "work.job",
                amount("USD", 200_000.0, 200_000.0, "YEAR"),
                amount("USD", 20.0, 20.0, "HOUR"),
                true,
            ),
            (
                "work.job",
                amount("USD", 41_000.0, 41_000.0, "YEAR"),
                amount("USD", 20.0, 20.0, "HOUR"),
                false,
            ),
            (
                "work.job",
                json!({ "currency": "USD", "min": 50_000, "unit": "YEAR" }),
                amount("USD", 60_000.0, 60_000.0, "YEAR"),
                false,
            ),
            (
                "work.job",
                json!({ "currency": "USD", "max": 50_000, "unit": "YEAR" }),
                amount("USD", 60_000.0, 60_000.0, "YEAR"),
                true,
            ),
        ] {
            let listing = listing(
                category,
                json!({ "compensation": stated }),
                json!({ "compensation": said }),
            );
            let fields: Vec<_> = find(&listing).into_iter().map(|found| found.field).collect();
            let expected: &[&str] = if is_contradicted { &["/compensation"] } else { &[] };
            assert_eq!(fields, expected, "{category} {stated} {said}");
        }
    }

    #[test]
    fn a_number_that_the_text_contradicts_is_named() {
        for (stated, said, is_contradicted) in [
            (json!({ "bedrooms": 2 }), json!({ "bedrooms": 3 }), true),
            (json!({ "bedrooms": 2 }), json!({ "bedrooms": 2.0 }), false),
            (json!({ "bedrooms": 2 }), json!({ "smoking": false }), false),
            (json!({ "age": 30 }), json!({ "age": 40 }), false),
            (json!({ "pets": "allowed" }), json!({ "pets": "no" }), false),
        ] {
            let listing = listing("home.let", json!({ "attributes": stated }), said.clone());
            assert_eq!(!find(&listing).is_empty(), is_contradicted, "{stated} {said}");
        }
    }
}
