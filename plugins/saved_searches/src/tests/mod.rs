//! Saved searches in a world without other capabilities.

mod arrivals;
mod following;
mod keeping;
mod notices;

use crate::{SavedSearches, documents::*, fixtures::*};
use listing_search::{CARDS_OF, FoundCards, StoredCard};
use people_kit::{people, relations};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const SEARCH: &str = "sav_01JZX8Q4M2N6P7R8S9T0V1W2X3";

fn found(cards: impl IntoIterator<Item = StoredCard>) -> FoundCards {
    FoundCards { cards: cards.into_iter().collect() }
}

/// Returns a world that knows nobody's profile and in which nobody has blocked anybody.
fn world() -> World {
    test::world()
        .of::<SavedSearches>()
        .system()
        .at(NOW)
        .answer(people::PEOPLE, json!({ "people": [] }))
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
}

fn arrive(world: &mut World) {
    arrive_by(world, "listing.published");
}

fn arrive_by(world: &mut World, event_type: &str) {
    let event = json!({
        "id": "evt_1", "event_type": event_type, "subject": "listings/x",
        "data": { "listing_id": LISTING, "category": "home.let.room" },
    });
    world.call("on_listing_active", &event).unwrap();
}

/// Returns the types of the events, each with the ids of its listings.
fn events(world: &World) -> Vec<(String, Value)> {
    let events = world.events().into_iter();
    events.map(|event| (event.event_type, event.data["listing_ids"].clone())).collect()
}

fn matched() -> (String, Value) {
    ("saved_search.matched".into(), json!([LISTING]))
}

/// Returns a hit of `SEARCH`.
fn hit() -> StoredHit {
    StoredHit {
        owner_id: SEEKER.into(),
        search_id: SEARCH.into(),
        listing_id: "lst_1".into(),
        record: None,
        lister_id: None,
        number: 0,
        published_at: 0,
        until: 0,
    }
}

fn listing(number: usize) -> StoredCard {
    StoredCard { listing_id: format!("lst_{number:03}"), ..stored(1, json!({})) }
}
