//! Notifies people of the hits of their searches, and deletes expired hits.

use crate::{documents::*, records, refusals::*, trial::Trial, types::*};
use listing_search::{StoredCard, is_withheld};
use people_kit::{organisations, people, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of hits that one call forgets.
const FORGOTTEN_AT_ONCE: u32 = 300;
/// The number of listings that are tried together: one nested call reads the profiles of their owners
/// and of the person who is notified, at most 100.
const TRIED_TOGETHER: usize = 99;

/// A listing or a record that a search has found.
pub(crate) struct Found {
    pub(crate) hit: StoredHit,
    /// The record as an event names it; `None` for a listing.
    pub(crate) record: Option<RecordFact>,
}

impl Found {
    pub(crate) fn listing(listing: &StoredCard) -> Self {
        let mut hit = StoredHit {
            listing_id: listing.listing_id.clone(),
            lister_id: listing.card.org_id.is_none().then(|| listing.card.owner_id.clone()),
            ..StoredHit::default()
        };
        hit.extend(&listing.card);
        Self { hit, record: None }
    }
}

/// Stores the hits of a search, and notifies the person at once or sets a timer for it. Returns whether the
/// search had no hits.
pub(crate) fn keep(call: &Call, search: &Stored<SavedSearch>, found: Vec<Found>) -> Result<bool> {
    let mut stored = NEWS.get_or_default(&search.id)?;
    let news = &mut stored.value;
    let found: Vec<Found> =
        (found.into_iter()).filter(|found| found.hit.published_at > news.dropped_through).collect();
    if found.is_empty() {
        return Ok(false);
    }
    news.owner_id.clone_from(&search.value.owner_id);
    let is_first_hit = news.kept == 0;
    for Found { hit, .. } in &found {
        if news.kept >= MOST_HITS {
            drop_first(&search.id, news)?;
        }
        news.last += 1;
        news.kept += 1;
        let hit = StoredHit {
            owner_id: search.value.owner_id.clone(),
            search_id: search.id.clone(),
            number: news.last,
            ..hit.clone()
        };
        HITS.add(hit_id(&search.id, &hit.listing_id), hit, call.now())?;
    }
    if news.count == 0 {
        news.due_at = search.value.due(news, call.now());
    }
    if news.count == 0 && news.due_at <= call.now() {
        publish(call, search, news, found)?;
    } else {
        // Hits that wait already are tried again before they are announced.
        news.count += found.len() as u64;
        set_timer(&search.id, news)?;
    }
    NEWS.save(&mut stored)?;
    Ok(is_first_hit)
}

/// Sets the timer of the waiting hits by the frequency of their search.
pub(crate) fn reschedule(call: &Call, search: &Stored<SavedSearch>) -> Result<()> {
    if let Some(mut news) = NEWS.get(&search.id)?.filter(|news| news.value.count > 0) {
        news.value.due_at = search.value.due(&news.value, call.now());
        set_timer(&search.id, &news.value)?;
        NEWS.save(&mut news)?;
    }
    Ok(())
}

fn set_timer(search_id: &str, news: &News) -> Result<()> {
    let input = SearchId { search_id: search_id.into() };
    Ok(timers::set(&timer(search_id), news.due_at, "notify", &input)?)
}

/// Drops the waiting hits of a search.
pub(crate) fn drop_news(search_id: &str) -> Result<()> {
    timers::cancel(&timer(search_id))?;
    if let Some(mut news) = NEWS.get(search_id)? {
        news.value.settle();
        NEWS.save(&mut news)?;
    }
    Ok(())
}

/// Forgets everything about a search that is deleted.
pub(crate) fn forget(search_id: &str) -> Result<()> {
    timers::cancel(&timer(search_id))?;
    NEWS.delete(search_id, Expect::Any)?;
    for hit in HITS.find(hits_of(search_id).limit(MOST_HITS))?.into_documents() {
        HITS.delete(&hit.id, Expect::Any)?;
    }
    Ok(())
}

/// Notifies a person of the hits of a search since the last event. Hits that no longer fit, or that the person
/// can no longer see, are left out and forgotten: the search can find it again.
pub(crate) fn notify(call: &Call, search_id: &str) -> Result<()> {
    let Some(search) = SEARCHES.get(search_id)? else { return Ok(()) };
    let Some(mut stored) = NEWS.get(search_id)?.filter(|news| news.value.count > 0) else {
        return Ok(());
    };
    let news = &mut stored.value;
    let number = field("number").gt(news.settled);
    let waiting = Query::new().filter(field("search_id").eq(search_id).and(number)).last("number");
    let hits: Vec<_> = HITS.find(waiting.limit(MOST_HITS))?.into_documents().collect();
    let mut shown = match &search.value.sought {
        Sought::Listings(_) => shown_listings(&search, &hits)?,
        Sought::Records(filters) => records::shown(&search, filters, &hits)?,
    };
    let mut found = Vec::new();
    for hit in hits {
        if let Some(record) = shown.remove(&hit.value.listing_id) {
            found.push(Found { hit: hit.value, record });
        } else {
            HITS.delete(&hit.id, Expect::Any)?;
            news.kept = news.kept.saturating_sub(1);
        }
    }
    if found.is_empty() {
        news.settle();
    } else {
        publish(call, &search, news, found)?;
    }
    Ok(NEWS.save(&mut stored)?)
}

/// Returns the ids of the hits' listings that a search still finds. Listings have no records.
fn shown_listings(
    search: &Stored<SavedSearch>,
    hits: &[Stored<StoredHit>],
) -> Result<BTreeMap<String, Option<RecordFact>>> {
    let mut all = BTreeMap::new();
    for hits in hits.chunks(TRIED_TOGETHER) {
        let shown = shown(search, hits.iter().map(|hit| hit.value.listing_id.as_str()))?;
        all.extend(shown.into_iter().map(|listing_id| (listing_id, None)));
    }
    Ok(all)
}

/// Returns those of the listings that a search still finds.
fn shown<'a>(
    search: &Stored<SavedSearch>,
    listing_ids: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>> {
    let cards = listing_search::cards(listing_ids)?;
    let owners: Vec<String> = cards.iter().map(|stored| stored.card.owner_id.clone()).collect();
    let owners = owners.iter().map(String::as_str);
    let hidden = relations::hidden(Some(&search.value.owner_id), owners.clone())?;
    let people = people::people(owners.chain([search.value.owner_id.as_str()]))?;
    let mut shown = BTreeSet::new();
    for stored in cards {
        let owner_id = &stored.card.owner_id;
        let owner = people.get(owner_id);
        let of = (owner_id.as_str(), stored.card.org_id.as_deref());
        let is_blocked = hidden.contains(owner_id)
            && !organisations::is_answered_by_others(&search.value.owner_id, of)?;
        let is_hidden = is_blocked
            || owner.is_some_and(|owner| !owner.is_findable())
            || is_withheld(&stored.card, owner);
        let trial = Trial::new(stored)?;
        let is_shown = !is_hidden
            && trial.fits(search)?
            && trial.is_shown_to(&search.value, people.get(&search.value.owner_id))?;
        if is_shown {
            shown.insert(trial.stored.listing_id);
        }
    }
    Ok(shown)
}

/// Publishes the event about the hits of a search, the newest first. The caller saves the news.
fn publish(
    call: &Call,
    search: &Stored<SavedSearch>,
    news: &mut News,
    found: Vec<Found>,
) -> Result<()> {
    let is_of_listings = search.value.sought.listings().is_some();
    let next = match found.as_slice() {
        [Found { hit, .. }] if is_of_listings => {
            Next::action("agent_listings", "get").field("listing_id", hit.listing_id.as_str())
        }
        _ => Next::action(CAPABILITY, "preview").field("search_id", search.id.as_str()),
    };
    let count = found.len() as u64;
    let named = found.into_iter().take(MOST_NAMED);
    let (listing_ids, records) = match is_of_listings {
        true => (named.map(|found| found.hit.listing_id).collect(), None),
        false => (Vec::new(), Some(named.filter_map(|found| found.record).collect())),
    };
    let (search_id, name) = (search.id.clone(), search.value.name.clone());
    let facts = Facts { search_id, name, count, listing_ids, records };
    let event = match search.value.frequency {
        Frequency::Instant => MATCHED,
        Frequency::Daily | Frequency::Weekly => DIGEST,
    };
    let summary = match is_of_listings {
        true => "A saved search has found new listings.",
        false => "A saved search has found new or changed records of the map.",
    };
    let data = Data::by_system(search.resource(), summary, facts).next(next);
    news.settle();
    news.notified_at = call.now();
    Ok(search.notify_owner(event, &data)?)
}

/// Drops the hit of the listing that was published first, or of the record that was found first. The caller saves the news. An erasure deletes hits
/// without a change of their number, so there can be fewer, which only drops others earlier.
fn drop_first(search_id: &str, news: &mut News) -> Result<()> {
    if let Some(first) = HITS.find(hits_of(search_id).limit(1))?.into_documents().next() {
        HITS.delete(&first.id, Expect::Any)?;
        news.kept -= 1;
        news.dropped_through = news.dropped_through.max(first.value.published_at);
        news.count = news.count.saturating_sub(u64::from(first.value.number > news.settled));
    } else {
        news.kept = 0;
    }
    Ok(())
}

fn hits_of(search_id: &str) -> Query {
    Query::new().filter(field("search_id").eq(search_id)).first("published_at")
}

/// Forgets the hits whose time is over, some in this call and the others in calls that follow.
pub(crate) fn sweep(call: &Call) -> Result<()> {
    let over = Query::new().filter(field("until").lt(call.now())).first("until");
    let (hits, next) = HITS.find(over.limit(FORGOTTEN_AT_ONCE))?.into_parts();
    let mut forgotten: BTreeMap<String, u32> = BTreeMap::new();
    for hit in hits {
        HITS.delete(&hit.id, Expect::Any)?;
        *forgotten.entry(hit.value.search_id).or_default() += 1;
    }
    for (search_id, count) in forgotten {
        if let Some(mut news) = NEWS.get(&search_id)? {
            news.value.kept = news.value.kept.saturating_sub(count);
            NEWS.save(&mut news)?;
        }
    }
    if next.is_some() {
        timers::set("sweep/rest", call.now(), "sweep", &json!({}))?;
    } else if !HITS.find(Query::new().limit(1))?.hits.is_empty() {
        schedule_sweep(call)?;
    }
    Ok(())
}

/// Sets the timer of the next sweep to the end of the day (UTC). Each day has a timer of its own, so
/// that an earlier sweep that is due is not postponed.
pub(crate) fn schedule_sweep(call: &Call) -> Result<()> {
    let day = call.now() / DAY + 1;
    Ok(timers::set(&format!("sweep/{day}"), day * DAY, "sweep", &json!({}))?)
}

fn timer(search_id: &str) -> String {
    format!("notify/{search_id}")
}
