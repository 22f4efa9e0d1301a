//! The capability `saved_searches`: searches for listings that are tried against each new one, and searches of the
//! map that are tried against each change of the feeds.
//!
//! A saved search is stored under the keys of its most selective condition. A listing that is new or has
//! changed finds the searches that share one of its keys, and each of these is then evaluated as
//! `agent_listings` `search` would. The hits of a search are stored, so that each is announced once.
//! When the taxonomy changes, the searches are prepared again.

mod anchors;
mod arrivals;
mod documents;
mod following;
#[cfg(test)]
mod fixtures;
mod intents;
mod person_page;
mod keeping;
mod preview;
mod records;
mod refreshing;
mod refusals;
mod states;
mod notices;
#[cfg(test)]
mod tests;
mod trial;
mod types;

use arrivals::{Arrival, ListingChange};
use documents::{HITS, NEWS, OWNER_SEARCHES, SEARCHES, SavedSearch};
use following::{FOLLOWING, FeedsPublished};
use listing_search::CARDS_OF;
use people_kit::{organisations::ACTING_MEMBERS, people, relations, taxonomy};
use portolan_sdk::prelude::*;
use preview::{SEARCH_LISTINGS, SEARCH_MAP};
use refreshing::{CatalogChange, Refresh};
use refusals::SavedSearchError;
use states::SEARCH;
use types::*;

struct SavedSearches;

/// Save a search for listings or of the map, and be notified of each new listing or record that fits.
///
/// A saved search has a name and the conditions of a search of `agent_listings`, or the filters of a search of
/// `map_search`. Each listing that
/// is published or resumed later is tried against it at once, and again whenever it is changed:
/// nobody has to poll. The person's agents get the event `saved_search.matched` (frequency
/// `instant`) or, once a day or a week, `saved_search.digest`. A listing that was published before
/// the search was saved is not announced, also if it is changed or renewed later, unless it is paused
/// and resumed, or ends and is published again: `preview` lists what fits now.
///
/// A listing is announced once for each search, also if it is changed or resumed later. A search
/// remembers the 500 newest listings that it has found; an older one is announced again
/// only if it ends and is published again. The person could find each listing that is announced: not
/// their own, and not those of people whom they have blocked or who have blocked them. To be matched
/// from both sides, use `matching_sessions` instead.
///
/// A search of the map is tried against each role, organisation, person, signal or event that is added to the feeds
/// or changed there, soon after it is published. A record is announced once for each search, and says whether it
/// is new or has changed; what was removed is not announced. This is also how webhooks follow the feeds.
#[capability(
    id = "saved_searches",
    consequence = portolan_sdk::Consequence::of("own"),
    title = "Saved searches",
    tags = ["listings", "search", "alerts", "events"],
    invokes = [
        CARDS_OF, SEARCH_LISTINGS, SEARCH_MAP, ACTING_MEMBERS, people::PEOPLE, relations::ALLOWED, relations::HIDDEN,
        taxonomy::NARROW,
    ],
    collections = [SEARCHES, HITS, NEWS, OWNER_SEARCHES, FOLLOWING],
    state_machines = [SEARCH]
)]
impl SavedSearches {
    /// Save a search.
    ///
    /// Its conditions are those of `agent_listings` `search` (`query`) or of `map_search` `search`
    /// (`map_query`), and what it finds must have all words of `q`. A person can have 50 saved searches.
    #[action(
        access = write,
        example = json!({
            "name": "Quiet rooms near the park",
            "query": {
                "q": "quiet", "category": "home.let.room",
                "near": { "lat": 37.77, "lng": -122.42, "radius_km": 10 },
                "compensation": { "currency": "USD", "max": 1500, "unit": "MONTH" },
            },
        }),
        example = json!({
            "name": "Jobs with Rust", "query": { "q": "rust", "category": "work.job" },
            "frequency": "daily",
        }),
        example = json!({
            "name": "Engineers at robotics startups",
            "map_query": { "q": "engineer", "role": { "seniority": "senior" }, "industry": "robotics" },
        }),
        intents = intents::CREATE
    )]
    fn create(call: &Call, input: Create) -> Result<Answer<SearchView>, SavedSearchError> {
        keeping::create(call, input)
    }

    /// Change the name, the conditions or the frequency of a saved search.
    ///
    /// Fields that are left out stay as they are. New conditions replace all earlier ones, and apply
    /// to what is published, resumed or changed later, and to what waits to be announced.
    #[action(access = write, idempotent, intents = intents::UPDATE, example = json!({
            "search_id": SEARCH_ID, "query": { "q": "quiet", "category": "home.let" },
        }))]
    fn update(call: &Call, input: Update) -> Result<SearchView, SavedSearchError> {
        keeping::update(call, input)
    }

    /// Get a saved search.
    #[action(
        access = read, idempotent, example = json!({ "search_id": SEARCH_ID }),
        intents = intents::GET
    )]
    fn get(call: &Call, input: SearchId) -> Result<SearchView, SavedSearchError> {
        keeping::view(&SavedSearch::load_own(call, &input.search_id)?)
    }

    /// List the person's saved searches, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default(), intents = intents::LIST, person_page = person_page::list())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<SearchView>>, SavedSearchError> {
        keeping::list(call, input)
    }

    /// Preview the newest listings or records that fit now.
    ///
    /// It takes a saved search, or conditions before they are saved. Nothing is stored.
    #[action(
        access = read, idempotent,
        example = json!({ "query": { "q": "rust", "category": "work.job" }, "limit": 5 }),
        intents = intents::PREVIEW
    )]
    fn preview(call: &Call, input: Preview) -> Result<Answer<PreviewList>, SavedSearchError> {
        preview::preview(call, input)
    }

    /// Pause a saved search.
    ///
    /// Hits that were not announced are dropped, and nothing is found until it is resumed.
    #[action(access = write, example = json!({ "search_id": SEARCH_ID }), intents = intents::PAUSE, person_page = person_page::pause())]
    fn pause(call: &Call, input: Step) -> Result<SearchView, SavedSearchError> {
        keeping::pause(call, &input)
    }

    /// Resume a paused search.
    ///
    /// Listings that were published in between are not announced, also if they are changed later, and
    /// neither are changes of the map in between; `preview` lists what fits.
    #[action(
        access = write, example = json!({ "search_id": SEARCH_ID }),
        intents = intents::RESUME, person_page = person_page::resume()
    )]
    fn resume(call: &Call, input: Step) -> Result<SearchView, SavedSearchError> {
        keeping::resume(call, &input)
    }

    /// Delete a saved search for good.
    #[action(
        access = write, destructive, example = json!({ "search_id": SEARCH_ID }),
        intents = intents::DELETE, person_page = person_page::delete()
    )]
    fn delete(call: &Call, input: Step) -> Result<SearchView, SavedSearchError> {
        keeping::delete(call, &input)
    }

    /// Find the saved searches that a listing fits.
    #[action(
        access = internal, idempotent,
        on = "listing.published", on = "listing.resumed", on = "listing.updated",
        emits = [MATCHED, DIGEST]
    )]
    fn on_listing_active(
        call: &Call,
        event: Happened<ListingChange>,
    ) -> Result<(), SavedSearchError> {
        arrivals::find_searches(call, Arrival::of(event))
    }

    /// Continue to find the saved searches that a listing fits.
    #[action(access = internal, idempotent, emits = [MATCHED, DIGEST])]
    fn arrive(call: &Call, input: Arrival) -> Result<(), SavedSearchError> {
        arrivals::find_searches(call, input)
    }

    /// Find the hits of the saved searches of the map in changes of the feeds.
    #[action(access = internal, idempotent, on = "feeds.published", emits = [MATCHED, DIGEST])]
    fn on_feeds_published(
        call: &Call,
        event: Happened<FeedsPublished>,
    ) -> Result<(), SavedSearchError> {
        following::published(call, event.data)
    }

    /// Continue to try the changes of the feeds.
    #[action(access = internal, idempotent, emits = [MATCHED, DIGEST])]
    fn follow(call: &Call) -> Result<(), SavedSearchError> {
        following::follow(call)
    }

    /// Notify a person of the hits of a search.
    #[action(access = internal, idempotent, emits = [MATCHED, DIGEST])]
    fn notify(call: &Call, input: SearchId) -> Result<(), SavedSearchError> {
        notices::notify(call, &input.search_id)
    }

    /// Forget listings that were found and have ended long ago, and records that were found long ago.
    #[action(access = internal, idempotent)]
    fn sweep(call: &Call) -> Result<(), SavedSearchError> {
        notices::sweep(call)
    }

    /// Prepare all searches again if their preparation has changed.
    #[action(access = internal, idempotent, on = "catalog.changed")]
    fn on_catalog_changed(
        call: &Call,
        event: Happened<CatalogChange>,
    ) -> Result<(), SavedSearchError> {
        refreshing::start(call, &event.data)
    }

    /// Prepare the saved searches again, with what words, filters and categories mean now.
    #[action(access = internal, idempotent)]
    fn refresh(call: &Call, input: Refresh) -> Result<(), SavedSearchError> {
        refreshing::refresh(call, input)
    }
}

const SEARCH_ID: &str = "sav_01JZX8Q4M2N6P7R8S9T0V1W2X3";
