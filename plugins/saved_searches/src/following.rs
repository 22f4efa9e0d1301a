//! The changes of the feeds, tried against the saved searches of the map.
//!
//! The cursor of the last change that was read is kept, and moves in the unit of work that takes the changes after
//! it: some hundred are taken at once, and tried against all searches of their types, some in each call. Timers
//! continue. While there is no search of the map, the cursor moves to each new publication.

use crate::{
    anchors, documents::*, notices, notices::Found, records, records::Tried, refusals::*, types::*,
};
use people_kit::people;
use portolan_sdk::{
    contract::platform,
    feeds::{self, Change, Operation},
    prelude::*,
};
use record_search::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// How far the changes of the feeds are followed: one document.
pub(crate) const FOLLOWING: Collection<Following> = Collection::new("following").people(&[]);
const ONLY: &str = "feeds";
/// The number of changes that are tried at once.
const CHANGES_AT_ONCE: u32 = 100;
/// The maximum number of searches that one call tries: each can make an event, a timer and a hit for each change.
const TRIED_AT_ONCE: u32 = 20;
/// The interval at which a call sees whether its node has the publication, and how often it does so. After that, the
/// changes are tried with the next publication.
const WAIT: u64 = 5 * SECOND;
const MOST_WAITS: u32 = 120;

#[document]
pub(crate) struct Following {
    /// The place in the log after the changes that were read.
    pub(crate) cursor: String,
    /// The place in the log of the publication that was announced last.
    target: String,
    /// How often a call waited for its node to have that publication.
    waits: u32,
    /// The changes that are tried now.
    pub(crate) changes: Vec<Tried>,
    /// The cursor of the searches that are tried against them.
    searches: Option<String>,
    /// Whether the log has changes after these.
    pub(crate) has_more: bool,
}

/// The part of `feeds.published` that is read.
#[input]
pub(crate) struct FeedsPublished {
    #[schemars(length(min = 1, max = 100))]
    cursor: String,
}

/// Follows the changes from the current publication on, unless they are followed already.
pub(crate) fn begin(call: &Call) -> Result<()> {
    if FOLLOWING.get(ONLY)?.is_none() {
        let cursor = end()?;
        let value = Following {
            target: cursor.clone(),
            cursor,
            waits: 0,
            changes: Vec::new(),
            searches: None,
            has_more: false,
        };
        FOLLOWING.add(ONLY, value, call.now())?;
    }
    Ok(())
}

/// Tries the changes of a publication that was announced.
pub(crate) fn published(call: &Call, event: FeedsPublished) -> Result<()> {
    let Some(mut following) = FOLLOWING.get(ONLY)? else { return Ok(()) };
    following.value.target = event.cursor;
    following.value.waits = 0;
    proceed(call, following)
}

/// Continues to try changes.
pub(crate) fn follow(call: &Call) -> Result<()> {
    match FOLLOWING.get(ONLY)? {
        Some(following) => proceed(call, following),
        None => Ok(()),
    }
}

fn proceed(call: &Call, mut following: Stored<Following>) -> Result<()> {
    let value = &mut following.value;
    let next = if !has_publication(&value.target)? {
        value.waits += 1;
        (value.waits <= MOST_WAITS).then(|| call.now() + WAIT)
    } else if is_unused()? {
        (value.changes, value.searches, value.has_more) = (Vec::new(), None, false);
        value.cursor = end()?;
        None
    } else {
        if value.changes.is_empty() {
            take_changes(value)?;
        }
        try_changes(call, value)?;
        (value.has_more || !value.changes.is_empty()).then(|| call.now())
    };
    FOLLOWING.save(&mut following)?;
    if let Some(at) = next {
        timers::set("follow", at, "follow", &json!({}))?;
    }
    Ok(())
}

/// Returns the place in the log of the current publication.
fn end() -> Result<String> {
    Ok(feeds::changes(None, 1)?.next)
}

/// Whether this node has loaded the publication at this place of the log. Another node may have announced it.
fn has_publication(cursor: &str) -> Result<bool> {
    match feeds::changes(Some(cursor), 1) {
        Ok(_) => Ok(true),
        Err(HostError::BadCursor) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether no active search is of the map.
fn is_unused() -> Result<bool> {
    let keys = RecordType::ALL.map(anchors::of_type);
    Ok(SEARCHES.find(found_by(&keys).limit(1))?.hits.is_empty())
}

fn found_by(keys: &[String]) -> Query {
    Query::new().filter(field("indexed.anchors[]").one_of(keys))
}

/// Reads the next changes. If the log does not continue from the cursor, they are followed from the current
/// publication on.
fn take_changes(value: &mut Following) -> Result<()> {
    let page = match feeds::changes(Some(&value.cursor), CHANGES_AT_ONCE) {
        Ok(page) => page,
        Err(HostError::BadCursor) => {
            log::warn!(
                "changes of the feeds are not kept any more: saved searches have missed them"
            );
            value.cursor = end()?;
            value.has_more = false;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    (value.cursor, value.has_more) = (page.next, page.has_more);
    let mut changes: BTreeMap<String, HitRecord> = BTreeMap::new();
    for Change { feed, id, operation } in page.changes {
        let change = match operation {
            Operation::Added => RecordChange::Added,
            Operation::Changed => RecordChange::Changed,
            Operation::Removed => continue,
        };
        if let Some(kind) = RecordType::of_feed(&feed) {
            // A record that was added and then changed is new.
            changes.entry(id).or_insert(HitRecord { kind, change });
        }
    }
    value.changes = changes.into_iter().map(|(id, record)| Tried { id, record }).collect();
    Ok(())
}

/// Tries the changes against the searches of a page. They are done after the last page.
fn try_changes(call: &Call, value: &mut Following) -> Result<()> {
    let kinds: BTreeSet<RecordType> = value.changes.iter().map(|tried| tried.record.kind).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = kinds.into_iter().map(anchors::of_type).collect();
    let query = found_by(&keys).limit(TRIED_AT_ONCE);
    let page = match SEARCHES.find(query.clone().cursor(value.searches.take())) {
        // The collection was indexed anew. Announced records have hits.
        Err(HostError::BadCursor) => SEARCHES.find(query)?,
        page => page?,
    };
    let (searches, next) = page.into_parts();
    let searches: Vec<_> = searches.into_iter().collect();
    let owners: BTreeSet<&str> =
        searches.iter().map(|search| search.value.owner_id.as_str()).collect();
    let people = people::people(owners)?;
    let mut is_first_hit = false;
    for search in &searches {
        let is_active = people.get(&search.value.owner_id).is_none_or(|person| person.active);
        if let Some(filters) = search.value.sought.records().filter(|_| is_active) {
            let records = records::find(search, filters, &value.changes)?;
            is_first_hit |= keep_records(call, search, &value.changes, records)?;
        }
    }
    if is_first_hit {
        notices::schedule_sweep(call)?;
    }
    value.searches = next;
    if value.searches.is_none() {
        value.changes.clear();
    }
    Ok(())
}

/// Stores a hit for each record that the search has not found before. Returns whether the search had no hits.
fn keep_records(
    call: &Call,
    search: &Stored<SavedSearch>,
    tried: &[Tried],
    mut found: BTreeMap<String, Entry>,
) -> Result<bool> {
    let until = call.now() + RECORDS_REMEMBERED_FOR;
    let tried: Vec<&Tried> = tried.iter().filter(|tried| found.contains_key(&tried.id)).collect();
    let hits = HITS.get_many(tried.iter().map(|tried| hit_id(&search.id, &tried.id)))?;
    let host = platform::about().public_url;
    let mut kept = Vec::new();
    for (tried, hit) in tried.into_iter().zip(hits) {
        if let Some(mut hit) = hit {
            hit.value.until = until;
            HITS.save(&mut hit)?;
        } else if let Some(entry) = found.remove(&tried.id) {
            let hit = StoredHit {
                listing_id: tried.id.clone(),
                record: Some(tried.record),
                published_at: call.now(),
                until,
                ..StoredHit::default()
            };
            kept.push(Found { hit, record: Some(records::fact(&host, tried.record, &entry)) });
        }
    }
    notices::keep(call, search, kept)
}
