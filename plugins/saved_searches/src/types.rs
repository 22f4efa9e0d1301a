//! Inputs, outputs, limits and events.

use crate::states::*;
use listing_search::CardView;
pub(crate) use listing_search::Conditions;
use portolan_sdk::prelude::*;
pub(crate) use record_search::{Filters, RecordType};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "saved_searches";

/// The saved search's id: `sav_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The maximum number of saved searches of a person.
pub(crate) const MOST_SEARCHES: usize = 50;
/// The time within which the hits of an instant search are announced together.
pub(crate) const NOTICE_INTERVAL: u64 = MINUTE;
/// The maximum number of listings or records that an event names.
pub(crate) const MOST_NAMED: usize = 20;
/// The maximum number of listings or records that a search remembers to have found. The listing that was
/// published first, or the record that was found first, makes room for another one.
pub(crate) const MOST_HITS: u32 = 500;
/// The time after a listing's end in which it can be renewed and must not be announced again.
pub(crate) const REMEMBERED_FOR: u64 = 90 * DAY;
/// The time after which a record of the map that was found, and has not changed since, is forgotten.
pub(crate) const RECORDS_REMEMBERED_FOR: u64 = 365 * DAY;
/// The maximum number of characters of a record's title in an event.
pub(crate) const TITLE_CHARS: usize = 120;

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
    /// The number of listings or records that were found since the last event of the search and still
    /// fit, at most 500.
    pub(crate) count: u64,
    /// The ids of the newest of these listings, at most 20, the newest first. Empty for a search of the
    /// map.
    pub(crate) listing_ids: Vec<String>,
    /// The records that were found last, at most 20, for a search of the map.
    pub(crate) records: Option<Vec<RecordFact>>,
}

/// A record of the map that a search has found.
#[output]
pub(crate) struct RecordFact {
    pub(crate) id: String,
    /// The feed that has the record, such as `roles`.
    pub(crate) feed: &'static str,
    /// The name, the title or the headline, at most 120 characters. A person has none: their page tells who it
    /// is, as long as it is published.
    pub(crate) title: Option<String>,
    /// The address of its page. That of a signal is the page of its organisation.
    pub(crate) url: String,
    pub(crate) change: RecordChange,
}

/// A record's change.
#[choice]
pub(crate) enum RecordChange {
    /// It is new.
    Added,
    /// It was published before, and has changed; whether it fitted before is not known.
    Changed,
}

/// How soon hits are announced.
#[choice]
pub(crate) enum Frequency {
    /// At once, in `saved_search.matched`. Hits within a minute are announced together.
    Instant,
    /// Once a day, at the time of day at which the search was created, in `saved_search.digest`.
    /// No event is sent if nothing was found.
    Daily,
    /// Once a week, in the same way.
    Weekly,
}

/// Returns the schema of conditions that accepts no other fields and is not empty.
fn closed<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = T::json_schema(generator);
    schema.insert("additionalProperties".to_owned(), false.into());
    schema.insert("minProperties".to_owned(), 1.into());
    schema
}

#[input]
pub(crate) struct Create {
    /// A name that distinguishes the search from the person's others. Events contain it.
    pub(crate) name: Text<1, 80>,
    /// The conditions of a search for listings, as `agent_listings` `search` takes them.
    #[schemars(schema_with = "closed::<Conditions>")]
    pub(crate) query: Option<Conditions>,
    /// The filters of a search of the map, as `map_search` `search` takes them. Give either `query` or
    /// `map_query`.
    #[schemars(schema_with = "closed::<Filters>")]
    pub(crate) map_query: Option<Filters>,
    /// How soon hits are announced; `instant` by default.
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
    /// The new conditions of a search for listings, which replace all earlier ones.
    #[schemars(schema_with = "closed::<Conditions>")]
    pub(crate) query: Option<Conditions>,
    /// The new filters of a search of the map, which replace all earlier ones.
    #[schemars(schema_with = "closed::<Filters>")]
    pub(crate) map_query: Option<Filters>,
    /// How soon hits are announced.
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
    /// Conditions of a search for listings, to try before they are saved.
    #[schemars(schema_with = "closed::<Conditions>")]
    pub(crate) query: Option<Conditions>,
    /// Filters of a search of the map, to try before they are saved.
    #[schemars(schema_with = "closed::<Filters>")]
    pub(crate) map_query: Option<Filters>,
    /// The maximum number of listings or records to return.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) limit: u32,
}

fn twenty() -> u32 {
    20
}

/// Current hits.
#[output]
pub(crate) struct PreviewList {
    /// The newest listings that fit, the newest first, without the person's own. Empty for a search of
    /// the map.
    #[schemars(with = "Vec<CardView>")]
    pub(crate) items: Vec<Map<String, Value>>,
    /// The newest records that fit, the newest first, as `map_search` `search` returns them, for a
    /// search of the map.
    pub(crate) records: Option<Vec<Map<String, Value>>>,
}

/// A saved search.
#[output]
pub(crate) struct SearchView {
    pub(crate) search_id: String,
    pub(crate) name: String,
    /// The conditions of a search for listings.
    pub(crate) query: Option<Conditions>,
    /// The filters of a search of the map.
    pub(crate) map_query: Option<Filters>,
    pub(crate) frequency: Frequency,
    pub(crate) state: State,
    /// The version, which increases with every change.
    pub(crate) version: u64,
    /// The actions that the person may take now.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The number of listings or records that were found and are not announced yet.
    pub(crate) waiting: u64,
    /// When they are announced (RFC 3339); null if there are none.
    #[nullable]
    pub(crate) next_event_at: Option<String>,
    /// When the search was created (RFC 3339).
    pub(crate) created_at: String,
}
