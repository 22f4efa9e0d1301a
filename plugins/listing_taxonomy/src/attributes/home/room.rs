//! Rooms in shared homes.

use super::{Furnishing, Pets, Utility};
use crate::attributes::{Date, Language};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HouseholdStyle {
    Quiet,
    Social,
    EarlyRisers,
    NightOwls,
    CooksTogether,
    WorksFromHome,
}

/// A room to let. The rent is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "flatmates": 2, "room_area_m2": 14, "private_bathroom": false, "furnishing": "furnished",
    "available_from": "2027-01-01", "min_term_months": 6, "utilities_included": ["internet"],
    "pets": "not_allowed", "smoking": false, "household": ["quiet"], "deposit": 900,
}))]
pub(crate) struct RoomToLet {
    /// How many people live there without the new one.
    #[schemars(range(max = 30))]
    flatmates: u8,
    /// The room's area in square metres.
    #[schemars(range(min = 3, max = 100))]
    room_area_m2: Option<f32>,
    /// Whether the room has a bathroom of its own.
    private_bathroom: Option<bool>,
    /// What furniture is there.
    furnishing: Option<Furnishing>,
    /// The first day the room can be moved into.
    available_from: Date,
    /// The shortest stay, in months.
    #[schemars(range(min = 1, max = 60))]
    min_term_months: Option<u8>,
    /// The longest stay, in months; leave it out if there is no end.
    #[schemars(range(min = 1, max = 120))]
    max_term_months: Option<u8>,
    /// The deposit, in the currency of the rent.
    #[schemars(range(min = 0))]
    deposit: Option<f64>,
    /// What the rent includes.
    #[serde(default)]
    #[schemars(length(max = 6))]
    utilities_included: Vec<Utility>,
    /// Whether pets may live there. Assistance animals are not pets.
    pets: Option<Pets>,
    /// Whether smoking is allowed.
    smoking: Option<bool>,
    /// How the household lives.
    #[serde(default)]
    #[schemars(length(max = 6))]
    household: Vec<HouseholdStyle>,
    /// Languages spoken at home.
    #[serde(default)]
    #[schemars(length(max = 10), extend("x-criterion" = false))]
    languages: Vec<Language>,
}

/// A room that somebody looks for. What they can pay is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "move_in_from": "2027-01-01", "term_months": 9, "max_flatmates": 3, "has_pets": false,
    "smoker": false, "household": ["quiet", "works_from_home"],
}))]
pub(crate) struct RoomWanted {
    /// The first day the person could move in.
    move_in_from: Date,
    /// The last day the person has to move in.
    move_in_by: Option<Date>,
    /// How long the person wants to stay, in months.
    #[schemars(range(min = 1, max = 120))]
    term_months: Option<u8>,
    /// How many others may live there.
    #[schemars(range(max = 30))]
    max_flatmates: Option<u8>,
    /// Whether the room has to have a bathroom of its own.
    needs_private_bathroom: Option<bool>,
    /// Furnishings that suit; none means any.
    #[serde(default)]
    #[schemars(length(max = 3))]
    furnishing: Vec<Furnishing>,
    /// Whether pets move in. Assistance animals are not pets and need not be named.
    has_pets: Option<bool>,
    /// Whether the person smokes at home.
    smoker: Option<bool>,
    /// How the person likes to live.
    #[serde(default)]
    #[schemars(length(max = 6))]
    household: Vec<HouseholdStyle>,
}
