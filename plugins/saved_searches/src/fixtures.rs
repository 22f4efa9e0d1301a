//! Saved searches and listings for unit tests.

use crate::{anchors, documents::*, states::State, types::*};
use listing_search::{Card, Prepared, StoredCard, indexed};
use people_kit::taxonomy::Keys;
use portolan_sdk::prelude::*;

pub(crate) const SEEKER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X5";
pub(crate) const LISTER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X6";
pub(crate) const LISTING: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";

/// Returns conditions without comparisons of the taxonomy.
pub(crate) fn prepared(query: Value) -> Prepared {
    serde_json::from_value(json!({
        "conditions": query, "narrowed": { "facts": [], "ranks": [], "q": query["q"] },
    }))
    .unwrap()
}

/// Returns an active search of `SEEKER`.
pub(crate) fn search(name: &str, query: Value) -> SavedSearch {
    let prepared = prepared(query);
    SavedSearch {
        owner_id: SEEKER.into(),
        name: name.into(),
        indexed: Indexed { anchors: anchors::of_search(&prepared) },
        sought: Sought::Listings(Box::new(prepared)),
        frequency: Frequency::Instant,
        state: State::Active,
        changed_at: 0,
        since: 0,
        active_since: 0,
    }
}

/// Returns a card of `LISTER` with these fields.
pub(crate) fn card(fields: Value) -> Card {
    let mut card = json!({
        "owner_id": LISTER, "category": "home.let.room", "label": "Room", "indexed": {},
        "side": "offer", "title": "Quiet room", "excerpt": "With a desk.", "terms": "room flatshare",
        "attributes": {}, "remote": false, "visibility": "public", "min_age": 0,
        "published_at": 1_800_000_000_000_u64, "valid_through": 1_802_000_000_000_u64, "facts": [],
        "counterpart": "home.rent.room", "counterpart_side": "demand",
    });
    card.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut card: Card = serde_json::from_value(card).unwrap();
    card.indexed = indexed(&card.category, &Keys::default(), card.compensation.as_ref());
    card
}

/// Returns the card of `LISTING` with these fields.
pub(crate) fn stored(version: u64, fields: Value) -> StoredCard {
    StoredCard { listing_id: LISTING.into(), version, card: card(fields) }
}
