//! Notifies people of what their searches have found, and forgets it in time.

use crate::{documents::*, refusals::*, trial::Trial, types::*};
use listing_search::is_withheld;
use people_kit::{people, relations};
use portolan_sdk::prelude::*;
use std::{collections::BTreeMap, mem::take};

/// The maximum number of hits that one call forgets.
const FORGOTTEN_AT_ONCE: u32 = 300;

/// Stores a listing that a search has found, and notifies the person at once or sets a timer for it.
/// Returns whether the search had no hits.
pub(crate) fn keep(
    call: &Call,
    search: &Stored<SavedSearch>,
    listing_id: &str,
    until: u64,
) -> Result<bool> {
    let mut news = NEWS.get_or_default(&search.id)?;
    let owner_id = search.value.owner_id.clone();
    news.value.owner_id.clone_from(&owner_id);
    if news.value.kept >= MOST_HITS {
        news.value.kept -= forget_first(&search.id)?;
    }
    let is_first_hit = news.value.kept == 0;
    let hit = StoredHit { owner_id, search_id: search.id.clone(), until };
    HITS.add(hit_id(&search.id, listing_id), hit, call.now())?;
    news.value.kept += 1;
    news.value.count += 1;
    news.value.newest.insert(0, listing_id.to_owned());
    news.value.newest.truncate(MOST_NAMED);
    if search.value.due(&news.value, call.now()) <= call.now() {
        publish(call, search, &mut news)?;
    } else {
        schedule(call, search, &news.value)?;
    }
    NEWS.save(&mut news)?;
    Ok(is_first_hit)
}

/// Sets the timer for the next notice of a search.
pub(crate) fn schedule(call: &Call, search: &Stored<SavedSearch>, news: &News) -> Result<()> {
    let input = SearchId { search_id: search.id.as_str().into() };
    let due = search.value.due(news, call.now());
    Ok(timers::set(&timer(&search.id), due, "notify", &input)?)
}

/// Drops what is to be announced about a search.
pub(crate) fn drop_news(search_id: &str) -> Result<()> {
    timers::cancel(&timer(search_id))?;
    if let Some(mut news) = NEWS.get(search_id)? {
        (news.value.count, news.value.newest) = (0, Vec::new());
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

/// Notifies a person of what a search has found since the last event. Listings that no longer fit, or that
/// the person can no longer see, are left out.
pub(crate) fn notify(call: &Call, search_id: &str) -> Result<()> {
    let Some(search) = SEARCHES.get(search_id)? else { return Ok(()) };
    let Some(mut news) = NEWS.get(search_id)?.filter(|news| news.value.count > 0) else {
        return Ok(());
    };
    let shown = shown(&search, &news.value.newest)?;
    let gone = (news.value.newest.len() - shown.len()) as u64;
    news.value.count = if shown.is_empty() { 0 } else { news.value.count - gone };
    news.value.newest = shown;
    if news.value.count > 0 {
        publish(call, &search, &mut news)?;
    }
    Ok(NEWS.save(&mut news)?)
}

/// Returns those of the listings that a search still finds.
fn shown(search: &Stored<SavedSearch>, listing_ids: &[String]) -> Result<Vec<String>> {
    let cards = listing_search::cards(listing_ids.iter().map(String::as_str))?;
    let owners: Vec<String> = cards.iter().map(|stored| stored.card.owner_id.clone()).collect();
    let owners = owners.iter().map(String::as_str);
    let hidden = relations::hidden(Some(&search.value.owner_id), owners.clone())?;
    let people = people::people(owners.chain([search.value.owner_id.as_str()]))?;
    let mut shown = BTreeMap::new();
    for stored in cards {
        let owner_id = &stored.card.owner_id;
        let owner = people.get(owner_id);
        let is_hidden = hidden.contains(owner_id)
            || owner.is_some_and(|owner| !owner.active)
            || is_withheld(&stored.card, owner);
        let trial = Trial::new(stored)?;
        let is_shown = !is_hidden
            && trial.fits(search)?
            && trial.is_shown_to(&search.value, people.get(&search.value.owner_id))?;
        shown.insert(trial.stored.listing_id, is_shown);
    }
    let is_shown = |id: &&String| shown.get(*id).is_some_and(|is_shown| *is_shown);
    Ok(listing_ids.iter().filter(is_shown).cloned().collect())
}

/// Publishes the event about what a search has found. The caller saves the news.
fn publish(call: &Call, search: &Stored<SavedSearch>, news: &mut Stored<News>) -> Result<()> {
    let (count, newest) = (take(&mut news.value.count), take(&mut news.value.newest));
    let next = match newest.as_slice() {
        [listing_id] if count == 1 => {
            Next::action("agent_listings", "get").field("listing_id", listing_id.as_str())
        }
        _ => Next::action(CAPABILITY, "preview").field("search_id", search.id.as_str()),
    };
    let facts = Facts {
        search_id: search.id.clone(),
        name: search.value.name.clone(),
        count,
        listing_ids: newest,
    };
    let event = match search.value.frequency {
        Frequency::Instant => MATCHED,
        Frequency::Daily | Frequency::Weekly => DIGEST,
    };
    let summary = "A saved search has found new listings.";
    let data = Data::by_system(search.resource(), summary, facts).next(next);
    news.value.notified_at = call.now();
    Ok(search.notify_owner(event, &data)?)
}

/// Forgets the hit of a search that would be forgotten first, and returns how many were forgotten.
fn forget_first(search_id: &str) -> Result<u32> {
    let first = HITS.find(hits_of(search_id).limit(1))?.into_documents().next();
    let Some(first) = first else { return Ok(0) };
    HITS.delete(&first.id, Expect::Any)?;
    Ok(1)
}

fn hits_of(search_id: &str) -> Query {
    Query::new().filter(field("search_id").eq(search_id)).first("until")
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
