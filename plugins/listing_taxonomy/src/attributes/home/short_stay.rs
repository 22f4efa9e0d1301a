//! Places for days or weeks.

use super::Pets;
use crate::attributes::{Date, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Space {
    SharedRoom,
    PrivateRoom,
    WholeHome,
}

/// A furnished place for a short time. The price is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "space": "whole_home", "bedrooms": 1, "sleeps": 2, "available_from": "2027-06-01",
    "available_until": "2027-08-31", "min_nights": 7, "registration_number": "STR-0000000",
}))]
pub(crate) struct ShortStayToLet {
    /// How much of the home the guest has alone.
    space: Space,
    /// Bedrooms; 0 for a studio.
    #[schemars(range(max = 20))]
    bedrooms: Option<u8>,
    /// How many people can sleep there.
    #[schemars(range(min = 1, max = 30))]
    sleeps: Option<u8>,
    /// The first night.
    available_from: Date,
    /// The last day.
    available_until: Option<Date>,
    /// The shortest stay, in nights.
    #[schemars(range(min = 1, max = 365))]
    min_nights: Option<u16>,
    /// The longest stay, in nights.
    #[schemars(range(min = 1, max = 365))]
    max_nights: Option<u16>,
    /// The city's registration number for short lets, where there is one.
    #[schemars(length(max = 40))]
    registration_number: Option<String>,
    /// Whether pets may come. Assistance animals are not pets.
    pets: Option<Pets>,
    /// Whether one gets in and around without steps.
    step_free: Option<bool>,
    /// Anything else worth searching for, such as `kitchen` or `desk`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    features: Vec<Tag>,
}

/// A place that somebody looks for, for a short time.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "spaces": ["private_room", "whole_home"], "arrive": "2027-06-05", "depart": "2027-06-19",
    "guests": 1, "has_pets": false,
}))]
pub(crate) struct ShortStayWanted {
    /// What suits.
    #[schemars(length(min = 1, max = 3))]
    spaces: Vec<Space>,
    /// The first night.
    arrive: Date,
    /// The day of departure.
    depart: Date,
    /// How many people come.
    #[schemars(range(min = 1, max = 30), extend("x-criterion" = false))]
    guests: Option<u8>,
    /// Bedrooms, at least.
    #[schemars(range(max = 20))]
    min_bedrooms: Option<u8>,
    /// Whether pets come. Assistance animals are not pets and need not be named.
    has_pets: Option<bool>,
    /// Whether the way in and around has to be without steps.
    #[schemars(extend("x-criterion" = false))]
    needs_step_free: Option<bool>,
}
