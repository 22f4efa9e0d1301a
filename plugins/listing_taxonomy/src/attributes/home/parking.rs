//! Places for vehicles and things.

use crate::attributes::Date;
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ParkingKind {
    Garage,
    Carport,
    Driveway,
    Lot,
    StorageRoom,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Load {
    Bicycle,
    Motorcycle,
    Car,
    Van,
    Boxes,
    Furniture,
}

/// A parking or storage space to let. The rent is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "kind": "garage", "fits": ["car", "motorcycle"], "available_from": "2027-01-01",
    "ev_charging": true, "access_24h": true,
}))]
pub(crate) struct ParkingToLet {
    /// What it is.
    kind: ParkingKind,
    /// What it has room for.
    #[schemars(length(min = 1, max = 6))]
    fits: Vec<Load>,
    /// The first day it can be used.
    available_from: Date,
    /// Area in square metres.
    #[schemars(range(min = 0, max = 1000))]
    floor_area_m2: Option<f32>,
    /// Whether an electric car can be charged there.
    ev_charging: Option<bool>,
    /// Whether one gets in at any hour.
    access_24h: Option<bool>,
}

/// A parking or storage space that somebody looks for.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "load": "car", "needed_from": "2027-01-01", "needs_ev_charging": true }))]
pub(crate) struct ParkingWanted {
    /// What has to fit.
    load: Load,
    /// Kinds of space that suit; none means any.
    #[serde(default)]
    #[schemars(length(max = 5))]
    kinds: Vec<ParkingKind>,
    /// The first day it is needed.
    needed_from: Date,
    /// Area in square metres, at least.
    #[schemars(range(min = 0, max = 1000))]
    min_floor_area_m2: Option<f32>,
    /// Whether an electric car has to be charged there.
    needs_ev_charging: Option<bool>,
    /// Whether one has to get in at any hour.
    needs_access_24h: Option<bool>,
}
