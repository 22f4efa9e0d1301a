//! Whole homes: apartments and houses.

use super::{Furnishing, Pets, Utility};
use crate::attributes::{Date, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Laundry {
    InUnit,
    InBuilding,
    None,
}

/// A home to let. The rent is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "bedrooms": 2, "bathrooms": 1, "floor_area_m2": 74, "furnishing": "unfurnished",
    "available_from": "2027-01-01", "min_term_months": 12, "pets": "negotiable", "smoking": false,
    "utilities_included": ["water", "waste"], "deposit": 3200, "laundry": "in_building",
}))]
pub(crate) struct DwellingToLet {
    /// Bedrooms; 0 for a studio.
    #[schemars(range(max = 20))]
    bedrooms: u8,
    /// Bathrooms; a half for one without bath or shower.
    #[schemars(range(min = 0, max = 20))]
    bathrooms: Option<f32>,
    /// Floor area in square metres.
    #[schemars(range(min = 5, max = 2000))]
    floor_area_m2: Option<f32>,
    /// What furniture is there.
    furnishing: Option<Furnishing>,
    /// The first day the home can be moved into.
    available_from: Date,
    /// The shortest lease, in months.
    #[schemars(range(min = 1, max = 120))]
    min_term_months: Option<u8>,
    /// The longest lease, in months; leave it out if there is no end.
    #[schemars(range(min = 1, max = 120))]
    max_term_months: Option<u8>,
    /// The deposit, in the currency of the rent.
    #[schemars(range(min = 0))]
    deposit: Option<f64>,
    /// A broker's fee that the tenant pays, in the currency of the rent; 0 if there is none.
    #[schemars(range(min = 0))]
    broker_fee: Option<f64>,
    /// What the rent includes.
    #[serde(default)]
    #[schemars(length(max = 6))]
    utilities_included: Vec<Utility>,
    /// Whether pets may live there. Assistance animals are not pets.
    pets: Option<Pets>,
    /// Whether smoking is allowed.
    smoking: Option<bool>,
    /// Whether a parking space comes with it.
    parking: Option<bool>,
    /// Where one can wash clothes.
    laundry: Option<Laundry>,
    /// Whether one gets in and around without steps.
    step_free: Option<bool>,
    /// Anything else worth searching for, such as `balcony` or `dishwasher`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    features: Vec<Tag>,
}

/// A home that somebody looks for. What they can pay is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "min_bedrooms": 1, "move_in_from": "2027-01-01", "move_in_by": "2027-02-01", "term_months": 12,
    "has_pets": false, "smoker": false, "furnishing": ["unfurnished", "partly"],
}))]
pub(crate) struct DwellingWanted {
    /// Bedrooms, at least; 0 if a studio will do.
    #[schemars(range(max = 20))]
    min_bedrooms: u8,
    /// Bathrooms, at least.
    #[schemars(range(min = 0, max = 20))]
    min_bathrooms: Option<f32>,
    /// Floor area in square metres, at least.
    #[schemars(range(min = 5, max = 2000))]
    min_floor_area_m2: Option<f32>,
    /// Furnishings that suit; none means any.
    #[serde(default)]
    #[schemars(length(max = 3))]
    furnishing: Vec<Furnishing>,
    /// The first day the person could move in.
    move_in_from: Date,
    /// The last day the person has to move in.
    move_in_by: Option<Date>,
    /// How long the person wants to stay, in months.
    #[schemars(range(min = 1, max = 120))]
    term_months: Option<u8>,
    /// How many people move in.
    #[schemars(range(min = 1, max = 20), extend("x-criterion" = false))]
    occupants: Option<u8>,
    /// Whether pets move in. Assistance animals are not pets and need not be named.
    has_pets: Option<bool>,
    /// Whether somebody smokes at home.
    smoker: Option<bool>,
    /// Whether a parking space is needed.
    needs_parking: Option<bool>,
    /// Whether the way in and around has to be without steps.
    #[schemars(extend("x-criterion" = false))]
    needs_step_free: Option<bool>,
}
