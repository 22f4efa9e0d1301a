//! The listings that fit a search now, found by `agent_listings` `search`.

use crate::{documents::*, refusals::*, types::*};
use listing_search::SearchError;
use portolan_sdk::{prelude::*, to_value};
use serde_json::{Map, Value};

pub(crate) const SEARCH_LISTINGS: Invocation<Search, Found> =
    Invocation::new("agent_listings", "search");
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

pub(crate) fn preview(call: &Call, input: Preview) -> Result<Answer<PreviewList>> {
    let (conditions, base) = match (input.search_id, input.query) {
        (Some(id), None) => (SavedSearch::load_own(call, &id)?.value.prepared.conditions, ""),
        (None, Some(query)) => (query, "/query"),
        _ => {
            let expected = "exactly one of search_id and query";
            let next = Next::action(CAPABILITY, "list");
            return Err(Refusal::validation("/query", "required", expected).next(next).into());
        }
    };
    let next = match base {
        "" => Next::action("agent_listings", "search"),
        _ => Next::action(CAPABILITY, "create")
            .field("query", to_value(&conditions))
            .ask("name", "What should the saved search be called?"),
    };
    // Sorted by time, a search finds only listings with all words.
    let search = Search { conditions, sort: "newest", limit: input.limit + OWN };
    let found = SEARCH_LISTINGS.call(&search);
    let found = found.map_err(|refusal| SearchError::Common(refusal).within(base))?;
    let is_own = |listing: &Map<String, Value>| {
        let owner_id = listing.get("owner").and_then(|owner| owner.get("owner_id")?.as_str());
        owner_id.is_some() && owner_id == call.owner_id()
    };
    let mut items = found.items;
    items.retain(|listing| !is_own(listing));
    items.truncate(input.limit as usize);
    Ok(Answer::new(PreviewList { items }).next(next))
}
