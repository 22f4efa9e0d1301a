//! Places to work in.

use crate::attributes::{Date, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WorkspaceKind {
    Desk,
    Office,
    MeetingRoom,
    Studio,
    Workshop,
    Shop,
}

/// A workspace to let. The rent is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "kind": "office", "desks": 6, "floor_area_m2": 42, "available_from": "2027-01-01",
    "min_term_months": 3, "access_24h": true, "features": ["meeting room", "fibre"],
}))]
pub(crate) struct WorkspaceToLet {
    /// What it is.
    kind: WorkspaceKind,
    /// How many desks it has or has room for.
    #[schemars(range(min = 1, max = 1000))]
    desks: Option<u16>,
    /// Floor area in square metres.
    #[schemars(range(min = 1, max = 20_000))]
    floor_area_m2: Option<f32>,
    /// The first day it can be used.
    available_from: Date,
    /// The shortest term, in months; 0 for days and hours.
    #[schemars(range(max = 120))]
    min_term_months: Option<u8>,
    /// Whether one gets in at any hour.
    access_24h: Option<bool>,
    /// Whether one gets in and around without steps.
    step_free: Option<bool>,
    /// Anything else worth searching for.
    #[serde(default)]
    #[schemars(length(max = 20))]
    features: Vec<Tag>,
}

/// A workspace that somebody looks for. What they can pay is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "kinds": ["office", "studio"], "desks": 4, "needed_from": "2027-01-01", "term_months": 12,
}))]
pub(crate) struct WorkspaceWanted {
    /// What suits.
    #[schemars(length(min = 1, max = 6))]
    kinds: Vec<WorkspaceKind>,
    /// How many desks are needed.
    #[schemars(range(min = 1, max = 1000))]
    desks: Option<u16>,
    /// Floor area in square metres, at least.
    #[schemars(range(min = 1, max = 20_000))]
    min_floor_area_m2: Option<f32>,
    /// The first day it is needed.
    needed_from: Date,
    /// For how long, in months; 0 for days and hours.
    #[schemars(range(max = 120))]
    term_months: Option<u8>,
    /// Whether one has to get in at any hour.
    needs_access_24h: Option<bool>,
    /// Whether the way in and around has to be without steps.
    #[schemars(extend("x-criterion" = false))]
    needs_step_free: Option<bool>,
}
