//! Example listings for tests.

use people_kit::{
    listings::{Profile, Visibility},
    taxonomy::{Criteria, Side},
};

/// Returns a listing with an owner of its own. Every two of these listings are counterparts.
pub(crate) fn profile(name: &str) -> Profile {
    Profile {
        listing_id: format!("lst_{name}"),
        owner_id: format!("own_{name}"),
        org_id: None,
        category: "venture.cofounder".into(),
        label: "Cofounders".into(),
        side: Side::Demand,
        counterpart: "venture.cofounder".into(),
        counterpart_side: Side::Demand,
        state: "active".into(),
        visibility: Visibility::Public,
        min_age: 0,
        title: String::new(),
        excerpt: String::new(),
        attributes: serde_json::Map::new(),
        said: serde_json::Map::new(),
        gist: Vec::new(),
        age_at_least: None,
        unreachable: false,
        ended_at: None,
        facts: Vec::new(),
        criteria: Criteria::default(),
        place: None,
        remote: false,
        compensation: None,
        published_at: 0,
    }
}
