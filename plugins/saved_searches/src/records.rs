//! The records of the map that a search finds.

use crate::{documents::*, refusals::*, types::*};
use people_kit::people;
use portolan_sdk::{contract::platform, prelude::*};
use record_search::{Entry, Plan, SearchError};
use std::collections::BTreeMap;

/// A record that was added or changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tried {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) record: HitRecord,
}

/// Returns those of the records that a search finds, by their ids. A search that is refused now, because too many
/// organisations fit its filters or they have changed, finds nothing and is logged.
pub(crate) fn find(
    search: &Stored<SavedSearch>,
    filters: &Filters,
    tried: &[Tried],
) -> Result<BTreeMap<String, Entry>> {
    match find_any(filters, tried).map_err(Refusal::from) {
        Ok(found) => Ok(found),
        Err(refusal) if is_failure(&refusal) => Err(refusal.into()),
        Err(refusal) => {
            log::warn!("the saved search {} cannot be answered: {}", search.id, refusal.code);
            Ok(BTreeMap::new())
        }
    }
}

fn find_any(filters: &Filters, tried: &[Tried]) -> Result<BTreeMap<String, Entry>, SearchError> {
    let plan = Plan::new(filters, None)?;
    let mut found = BTreeMap::new();
    for kind in &plan.types {
        let of_kind = tried.iter().filter(|tried| tried.record.kind == *kind);
        let ids: Vec<&str> = of_kind.map(|tried| tried.id.as_str()).collect();
        let entries = plan.among(*kind, &ids)?;
        found.extend(entries.into_iter().map(|entry| (entry.id.clone(), entry)));
    }
    Ok(found)
}

/// Returns the records of hits that a search still finds, as an event names them.
pub(crate) fn shown(
    search: &Stored<SavedSearch>,
    filters: &Filters,
    hits: &[Stored<StoredHit>],
) -> Result<BTreeMap<String, Option<RecordFact>>> {
    let owner = people::person(&search.value.owner_id)?;
    if owner.is_some_and(|owner| !owner.active) {
        return Ok(BTreeMap::new());
    }
    let tried = hits.iter().filter_map(|hit| {
        Some(Tried { id: hit.value.listing_id.clone(), record: hit.value.record? })
    });
    let tried: Vec<Tried> = tried.collect();
    let found = find(search, filters, &tried)?;
    let host = platform::about().public_url;
    let shown = tried.into_iter().filter_map(|Tried { id, record }| {
        let fact = fact(&host, record, found.get(&id)?);
        Some((id, Some(fact)))
    });
    Ok(shown.collect())
}

/// Returns a record as an event names it.
pub(crate) fn fact(host: &str, record: HitRecord, entry: &Entry) -> RecordFact {
    let title: String = entry.content.name().chars().take(TITLE_CHARS).collect();
    RecordFact {
        id: entry.id.clone(),
        feed: record.kind.feed(),
        // An event would keep the name of a person who objects.
        title: (record.kind != RecordType::Person).then_some(title),
        url: format!("{host}{}", entry.page()),
        change: record.change,
    }
}
