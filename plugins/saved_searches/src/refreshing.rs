//! Prepares the saved searches again after a change of a capability on which they depend.

use crate::{anchors, documents::*, refusals::*, states::State, types::*};
use listing_search::Prepared;
use portolan_sdk::{prelude::*, to_value};

/// The capabilities on which the stored form of a search depends.
const DEPENDS_ON: [&str; 2] = [CAPABILITY, "listing_taxonomy"];
/// The number of searches that one call prepares; each asks the taxonomy.
const PREPARED_AT_ONCE: u32 = 50;
/// The time after which all nodes have the changed capability.
const DELAY: u64 = MINUTE;

/// The part of `catalog.changed` that is read.
#[input]
pub(crate) struct CatalogChange {
    catalog_version: u64,
    #[schemars(length(max = 100_000), inner(length(max = 200)))]
    added: Vec<String>,
    #[schemars(length(max = 100_000))]
    changed: Vec<ChangedCapability>,
}

#[input]
pub(crate) struct ChangedCapability {
    #[schemars(length(min = 1, max = 200))]
    id: String,
}

/// Where to prepare searches again.
#[input]
pub(crate) struct Refresh {
    /// The version of the catalog because of which the searches are prepared.
    #[serde(default)]
    catalog_version: u64,
    /// The cursor of the page; the first one by default.
    #[schemars(length(min = 1, max = 2000))]
    cursor: Option<String>,
}

/// Lets all searches be prepared again if a capability on which they depend is new or has changed.
pub(crate) fn start(call: &Call, change: &CatalogChange) -> Result<()> {
    let changed = change.changed.iter().map(|changed| &changed.id);
    let concerns_searches =
        changed.chain(&change.added).any(|id| DEPENDS_ON.contains(&id.as_str()));
    if !concerns_searches || SEARCHES.find(Query::new().limit(1))?.hits.is_empty() {
        return Ok(());
    }
    let first = Refresh { catalog_version: change.catalog_version, cursor: None };
    schedule(&first, call.now() + DELAY)
}

/// Prepares the searches of a page again, and leaves the others to the next call. A search whose
/// conditions are refused now stays as it is.
pub(crate) fn refresh(call: &Call, input: Refresh) -> Result<()> {
    let page = SEARCHES.find(Query::new().limit(PREPARED_AT_ONCE).cursor(input.cursor))?;
    let (searches, next) = page.into_parts();
    for mut search in searches {
        let value = &mut search.value;
        let Sought::Listings(stored) = &mut value.sought else { continue };
        let prepared = match Prepared::new(stored.conditions.clone()).map_err(Refusal::from) {
            Ok(prepared) => prepared,
            Err(refusal) if is_failure(&refusal) => return Err(refusal.into()),
            Err(refusal) => {
                log::warn!("the saved search {} would be refused: {}", search.id, refusal.code);
                continue;
            }
        };
        if to_value(&prepared) != to_value(stored) {
            if value.state == State::Active {
                value.indexed.anchors = anchors::of_search(&prepared);
            }
            **stored = prepared;
            search.save()?;
        }
    }
    match next {
        Some(cursor) => schedule(&Refresh { cursor: Some(cursor), ..input }, call.now()),
        None => Ok(()),
    }
}

fn schedule(input: &Refresh, at: u64) -> Result<()> {
    Ok(timers::set(&format!("refresh/{}", input.catalog_version), at, "refresh", input)?)
}
