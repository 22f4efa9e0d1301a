//! The public part of a listing in the vocabulary of schema.org.

use crate::{documents::*, types::*};
use people_kit::taxonomy::Side;
use portolan_sdk::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) fn of(listing: &Listing) -> Value {
    let content = &listing.content;
    let kind = listing.about.schema_org_type.as_str();
    let place = content.place.as_ref().map(|place| place_of(&place.public()));
    let pay = content.compensation.as_ref();
    let mut object = match (kind, listing.side) {
        ("JobPosting", _) => json!({
            "@type": kind, "title": content.title, "description": listing.excerpt,
            "datePosted": listing.published_at.map(rfc3339),
            "validThrough": listing.valid_through.map(rfc3339),
            "employmentType": content.attributes.get("employment_type"),
            "jobLocation": place, "baseSalary": pay.map(amount),
            "jobLocationType": content.remote.then_some("TELECOMMUTE"),
        }),
        ("Person", Side::Demand) => {
            json!({ "@type": kind, "seeks": intended(listing, "Demand", None, place, pay) })
        }
        (_, Side::Offer) => intended(listing, "Offer", Some(kind), place, pay),
        (_, Side::Demand) => intended(listing, "Demand", Some(kind), place, pay),
    };
    if let Some(members) = object.as_object_mut() {
        members.insert("@context".into(), "https://schema.org".into());
    }
    without_nulls(object)
}

/// Returns an `Offer` or a `Demand`. It has no item if `item` is `None` or is itself one of these
/// two types.
fn intended(
    listing: &Listing,
    kind: &str,
    item: Option<&str>,
    place: Option<Value>,
    pay: Option<&Compensation>,
) -> Value {
    let content = &listing.content;
    let item = item.filter(|item| !["Offer", "Demand"].contains(item));
    json!({
        "@type": kind, "name": content.title, "description": listing.excerpt,
        "validFrom": listing.published_at.map(rfc3339),
        "validThrough": listing.valid_through.map(rfc3339),
        "availableAtOrFrom": place, "priceSpecification": pay.map(price),
        "itemOffered": item.map(|item| json!({ "@type": item, "name": content.title })),
    })
}

fn place_of(place: &Place) -> Value {
    json!({
        "@type": "Place", "name": place.label,
        "geo": { "@type": "GeoCoordinates", "latitude": place.lat, "longitude": place.lng },
    })
}

fn amount(pay: &Compensation) -> Value {
    json!({
        "@type": "MonetaryAmount", "currency": pay.currency,
        "value": {
            "@type": "QuantitativeValue", "minValue": pay.min, "maxValue": pay.max,
            "unitText": portolan_sdk::to_value(&pay.unit),
        },
    })
}

fn price(pay: &Compensation) -> Value {
    json!({
        "@type": "UnitPriceSpecification", "priceCurrency": pay.currency,
        "minPrice": pay.min, "maxPrice": pay.max, "unitText": portolan_sdk::to_value(&pay.unit),
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            let kept: Map<_, _> =
                members.map(|(name, value)| (name, without_nulls(value))).collect();
            kept.into()
        }
        other => other,
    }
}
