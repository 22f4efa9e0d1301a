//! The current hits of a search, found by `agent_listings` `search` or `map_search` `search`.

use crate::{documents::*, refusals::*, types::*};
use listing_search::SearchError;
use portolan_sdk::{prelude::*, to_value};
use serde_json::{Map, Value};

pub(crate) const SEARCH_LISTINGS: Invocation<Search, Found> =
    Invocation::new("agent_listings", "search");
pub(crate) const SEARCH_MAP: Invocation<MapSearch, Found> = Invocation::new("map_search", "search");
/// The number of listings that are read in addition, because a person's own are left out: they can
/// have 20 active ones.
const OWN: u32 = 20;

#[derive(Debug, Serialize)]
pub(crate) struct Search {
    #[serde(flatten)]
    conditions: Conditions,
    sort: &'static str,
    limit: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Found {
    items: Vec<Map<String, Value>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MapSearch {
    #[serde(flatten)]
    filters: Filters,
    sort: &'static str,
    limit: u32,
}

/// Previews a saved search, or conditions that are not saved yet.
pub(crate) fn preview(call: &Call, input: Preview) -> Result<Answer<PreviewList>> {
    match (input.search_id, input.query, input.map_query) {
        (Some(id), None, None) => match SavedSearch::load_own(call, &id)?.value.sought {
            Sought::Listings(prepared) => {
                let next = Next::action("agent_listings", "search");
                listings(call, prepared.conditions, input.limit, "", next)
            }
            Sought::Records(filters) => {
                records(*filters, input.limit, "", Next::action("map_search", "search"))
            }
        },
        (None, Some(query), None) => {
            let next = create("query", to_value(&query));
            listings(call, query, input.limit, "/query", next)
        }
        (None, None, Some(filters)) => {
            let next = create("map_query", to_value(&filters));
            records(filters, input.limit, "/map_query", next)
        }
        _ => {
            let expected = "exactly one of search_id, query and map_query";
            let next = Next::action(CAPABILITY, "list");
            Err(Refusal::validation("/query", "required", expected).next(next).into())
        }
    }
}

fn create(field: &str, conditions: Value) -> Next {
    Next::action(CAPABILITY, "create")
        .field(field, conditions)
        .ask("name", "What should the saved search be called?")
}

/// Returns the newest listings that fit, without the person's own. `base` is where the conditions are in the
/// caller's body.
fn listings(
    call: &Call,
    conditions: Conditions,
    limit: u32,
    base: &str,
    next: Next,
) -> Result<Answer<PreviewList>> {
    // Sorted by time, a search finds only listings with all words.
    let search = Search { conditions, sort: "newest", limit: limit + OWN };
    let found = SEARCH_LISTINGS.call(&search);
    let found = found.map_err(|refusal| SearchError::Common(refusal).within(base))?;
    let is_own = |listing: &Map<String, Value>| {
        let owner_id = listing.get("owner").and_then(|owner| owner.get("owner_id")?.as_str());
        owner_id.is_some() && owner_id == call.owner_id()
    };
    let mut items = found.items;
    items.retain(|listing| !is_own(listing));
    items.truncate(limit as usize);
    Ok(Answer::new(PreviewList { items, records: None }).next(next))
}

/// Returns the newest records of the map that fit.
fn records(filters: Filters, limit: u32, base: &str, next: Next) -> Result<Answer<PreviewList>> {
    let search = MapSearch { filters, sort: "newest", limit };
    let found = SEARCH_MAP.call(&search);
    let found =
        found.map_err(|refusal| record_search::SearchError::Common(refusal).within(base))?;
    Ok(Answer::new(PreviewList { items: Vec::new(), records: Some(found.items) }).next(next))
}
