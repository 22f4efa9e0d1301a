//! Inputs, outputs, limits and events.

use crate::states::*;
use listing_search::CardView;
pub(crate) use listing_search::Conditions;
use portolan_sdk::prelude::*;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "saved_searches";

/// The saved search's id: `sav_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The maximum number of saved searches of a person.
pub(crate) const MOST_SEARCHES: usize = 50;
/// The time within which the listings that an instant search finds are announced together.
pub(crate) const NOTICE_INTERVAL: u64 = MINUTE;
/// The maximum number of listings that an event names.
pub(crate) const MOST_NAMED: usize = 20;
/// The maximum number of listings that a search remembers to have found. The one that was published
/// first makes room for another one.
pub(crate) const MOST_HITS: u32 = 500;
/// The time after a listing's end in which it can be renewed and must not be announced again.
pub(crate) const REMEMBERED_FOR: u64 = 90 * DAY;

/// An event of a saved search.
pub(crate) type SearchEvent = Event<Data<Facts>>;

pub(crate) const MATCHED: SearchEvent = Event::new("saved_search.matched");
pub(crate) const DIGEST: SearchEvent = Event::new("saved_search.digest");

/// The facts of an event.
#[output]
pub(crate) struct Facts {
    pub(crate) search_id: String,
    /// The name that the person has given the search.
    pub(crate) name: String,
    /// The number of listings that were found since the last event of the search and still fit, at
    /// most 500.
    pub(crate) count: u64,
    /// The ids of the newest of these listings, at most 20, the newest first.
    pub(crate) listing_ids: Vec<String>,
}

/// How soon a listing that was found is announced.
#[choice]
pub(crate) enum Frequency {
    /// At once, in `saved_search.matched`. Listings that follow within a minute are announced
    /// together.
    Instant,
    /// Once a day, at the time of day at which the search was created, in `saved_search.digest`.
    /// No event is sent if nothing was found.
    Daily,
    /// Once a week, in the same way.
    Weekly,
}

/// Returns the schema of conditions that accepts no other fields and is not empty.
fn closed(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Conditions::json_schema(generator);
    schema.insert("additionalProperties".to_owned(), false.into());
    schema.insert("minProperties".to_owned(), 1.into());
    schema
}

#[input]
pub(crate) struct Create {
    /// A name that distinguishes the search from the person's others. Events contain it.
    pub(crate) name: Text<1, 80>,
    /// The conditions of the search, as `agent_listings` `search` takes them.
    #[schemars(schema_with = "closed")]
    pub(crate) query: Conditions,
    /// How soon a listing that was found is announced; `instant` by default.
    #[serde(default = "instant")]
    pub(crate) frequency: Frequency,
}

fn instant() -> Frequency {
    Frequency::Instant
}

#[input]
pub(crate) struct Update {
    pub(crate) search_id: Id,
    /// The new name.
    pub(crate) name: Option<Text<1, 80>>,
    /// The new conditions, which replace all earlier ones.
    #[schemars(schema_with = "closed")]
    pub(crate) query: Option<Conditions>,
    /// How soon a listing that was found is announced.
    pub(crate) frequency: Option<Frequency>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct SearchId {
    pub(crate) search_id: Id,
}

#[input]
pub(crate) struct Step {
    pub(crate) search_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input(Default)]
pub(crate) struct List {
    /// The states of the searches to return. Omit this field to get all.
    #[schemars(length(min = 1, max = 2))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Preview {
    /// A saved search of the person.
    pub(crate) search_id: Option<Id>,
    /// Conditions to try before they are saved.
    #[schemars(schema_with = "closed")]
    pub(crate) query: Option<Conditions>,
    /// The maximum number of listings to return.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) limit: u32,
}

fn twenty() -> u32 {
    20
}

/// The listings that fit now.
#[output]
pub(crate) struct PreviewList {
    /// The newest listings that fit, the newest first, without the person's own.
    #[schemars(with = "Vec<CardView>")]
    pub(crate) items: Vec<Map<String, Value>>,
}

/// A saved search.
#[output]
pub(crate) struct SearchView {
    pub(crate) search_id: String,
    pub(crate) name: String,
    pub(crate) query: Conditions,
    pub(crate) frequency: Frequency,
    pub(crate) state: State,
    /// The version, which increases with every change.
    pub(crate) version: u64,
    /// The actions that the person may take now.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The number of listings that were found and are not announced yet.
    pub(crate) waiting: u64,
    /// When they are announced (RFC 3339); null if there are none.
    #[nullable]
    pub(crate) next_event_at: Option<String>,
    /// When the search was created (RFC 3339).
    pub(crate) created_at: String,
}
