//! Attributes of places to rent and of the people who look for them.
//!
//! What fair-housing law protects is no attribute. Where a wish comes near it (how many people move
//! in, steps at the door), the seeker can state it, and `x-criterion: false` keeps it out of what
//! landlords can select by.

mod dwelling;
mod parking;
mod room;
mod short_stay;
mod workspace;

pub(crate) use dwelling::{DwellingToLet, DwellingWanted};
pub(crate) use parking::{ParkingToLet, ParkingWanted};
pub(crate) use room::{RoomToLet, RoomWanted};
pub(crate) use short_stay::{ShortStayToLet, ShortStayWanted};
pub(crate) use workspace::{WorkspaceToLet, WorkspaceWanted};

use portolan_sdk::prelude::*;

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Furnishing {
    Unfurnished,
    Partly,
    Furnished,
}

/// Assistance animals are not pets and are always welcome.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Pets {
    Allowed,
    Negotiable,
    NotAllowed,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Utility {
    Water,
    Heating,
    Electricity,
    Gas,
    Internet,
    Waste,
}
