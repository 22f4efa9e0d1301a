//! Inputs that show what an action takes.

use crate::types::*;
use people_kit::taxonomy::{Criteria, Criterion, Operator, Side};
use portolan_sdk::entity::Version;
use serde_json::{Map, Value, json};

const ID: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

impl ListingId {
    pub(crate) fn example() -> Self {
        Self { listing_id: ID.into() }
    }
}

impl Step {
    pub(crate) fn example() -> Self {
        Self { listing_id: ID.into(), expected_version: None }
    }
}

impl MarkFilled {
    pub(crate) fn example() -> Self {
        Self {
            listing_id: ID.into(),
            pairing_id: None,
            outcome: Some(Outcome::Leased),
            expected_version: None,
        }
    }
}

impl Update {
    pub(crate) fn example() -> Self {
        let patch =
            json!({ "title": "Sunny room, from March", "attributes": { "pets": "allowed" } });
        Self { listing_id: ID.into(), patch: object(patch), expected_version: Some(Version(3)) }
    }
}

impl Create {
    pub(crate) fn example() -> Self {
        Self {
            category: "home.let.room".into(),
            side: Side::Offer,
            title: "Sunny room in a quiet shared home".into(),
            description:
                "**14 m²** with a desk, two stops from downtown. Write in English or Spanish."
                    .into(),
            attributes: object(json!({
                "flatmates": 2, "room_area_m2": 14, "furnishing": "furnished",
                "available_from": "2027-01-01", "pets": "negotiable", "smoking": false,
            })),
            criteria: Criteria {
                must: vec![Criterion {
                    field: "smoker".into(),
                    op: Operator::Eq,
                    value: false.into(),
                    weight: None,
                }],
                want: Vec::new(),
            },
            place: Some(Place {
                lat: 37.7599,
                lng: -122.4148,
                label: Some("Mission District, San Francisco".into()),
                precision: Precision::Neighbourhood,
            }),
            remote: false,
            compensation: Some(Compensation {
                currency: "USD".into(),
                min: Some(1450.0),
                max: Some(1450.0),
                unit: Unit::Month,
            }),
            valid_through: None,
            visibility: None,
            publish: true,
            as_org: None,
        }
    }
}
