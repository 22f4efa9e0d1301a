//! Listings that are new or have changed, tried against the saved searches.

use crate::{anchors, documents::*, notices, notices::Found, refusals::*, trial::Trial};
use listing_search::{StoredCard, is_withheld};
use people_kit::{organisations, people, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The number of keys of one query.
const KEYS_AT_ONCE: usize = 200;
/// The number of searches of one page.
const PAGE: u32 = 500;
/// The number of searches after which a call leaves the others to the next one.
const TRIED_AT_ONCE: usize = 2000;
/// The maximum number of searches that one call finds to fit: it can publish 100 events and change
/// 100 timers.
const FITTING_AT_ONCE: usize = 90;

/// A listing, and where the work continues if an earlier call has begun it.
#[input]
pub(crate) struct Arrival {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) listing_id: String,
    /// Whether the listing was changed, and not published or resumed.
    #[serde(default)]
    pub(crate) is_update: bool,
    /// The version of the card that is tried: a later one has an event of its own.
    pub(crate) version: Option<u64>,
    /// The number of the slice of keys, and the cursor of its next page.
    #[serde(default)]
    pub(crate) slice: usize,
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) cursor: Option<String>,
}

impl Arrival {
    pub(crate) fn of(event: Happened<ListingChange>) -> Self {
        Self {
            listing_id: event.data.listing_id,
            is_update: event.event_type == "listing.updated",
            version: None,
            slice: 0,
            cursor: None,
        }
    }
}

/// The part of a listing's event that is read.
#[input]
pub(crate) struct ListingChange {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) listing_id: String,
}

/// Finds the saved searches that a listing fits.
pub(crate) fn find_searches(call: &Call, arrival: Arrival) -> Result<()> {
    let Arrival { listing_id, is_update, version, mut slice, mut cursor } = arrival;
    let found = listing_search::cards([listing_id.as_str()])?.pop();
    let Some(stored) = found.filter(|card| version.is_none_or(|known| known == card.version))
    else {
        return Ok(());
    };
    let owner = people::person(&stored.card.owner_id)?;
    if is_withheld(&stored.card, owner.as_ref()) || owner.is_some_and(|owner| !owner.is_findable())
    {
        return Ok(());
    }
    let trial = Trial::new(stored)?;
    let keys = anchors::of_listing(&trial.stored.card, trial.terms());
    let (mut fitting, mut tried, mut is_first_hit) = (0, 0, false);
    while let Some(slice_keys) = keys.chunks(KEYS_AT_ONCE).nth(slice) {
        if fitting >= FITTING_AT_ONCE || tried >= TRIED_AT_ONCE {
            let version = Some(trial.stored.version);
            let rest = Arrival { listing_id, is_update, version, slice, cursor };
            let timer = format!("arrive/{}", rest.listing_id);
            timers::set(&timer, call.now(), "arrive", &rest)?;
            break;
        }
        let query = Query::new().filter(field("indexed.anchors[]").one_of(slice_keys));
        let part = find_part(&trial, &query, cursor, FITTING_AT_ONCE - fitting)?;
        fitting += part.fitting.len();
        tried += part.tried;
        slice += usize::from(part.next.is_none());
        cursor = part.next;
        is_first_hit |= keep_hits(call, &trial, is_update, &part.fitting)?;
    }
    if is_first_hit {
        notices::schedule_sweep(call)?;
    }
    Ok(())
}

/// A part of the searches that a query of keys finds.
struct Part {
    fitting: Vec<Stored<SavedSearch>>,
    /// The number of searches up to the end of the part.
    tried: usize,
    /// The cursor of the next part.
    next: Option<String>,
}

/// Returns the searches of a page that the listing fits. The part ends after `most` of them.
fn find_part(trial: &Trial, query: &Query, cursor: Option<String>, most: usize) -> Result<Part> {
    let page = SEARCHES.find(query.clone().limit(PAGE).cursor(cursor.clone()))?;
    let (searches, next) = page.into_parts();
    let (count, mut tried, mut fitting) = (searches.len(), 0, Vec::new());
    for search in searches {
        tried += 1;
        if trial.fits(&search)? {
            fitting.push(search);
        }
        if fitting.len() == most {
            break;
        }
    }
    let next = match tried < count {
        // Reads the cursor of a page that ends where this part does.
        true => SEARCHES.find(query.clone().limit(tried as u32).cursor(cursor))?.next,
        false => next,
    };
    Ok(Part { fitting, tried, next })
}

/// Stores a hit for each of these searches, which the listing fits, if its person may see the
/// listing and has not been notified of it. Returns whether one of the searches had no hits.
fn keep_hits(
    call: &Call,
    trial: &Trial,
    is_update: bool,
    fitting: &[Stored<SavedSearch>],
) -> Result<bool> {
    let StoredCard { listing_id, card, .. } = &trial.stored;
    let owners: BTreeSet<&str> =
        fitting.iter().map(|search| search.value.owner_id.as_str()).collect();
    let people = people::people(owners.iter().copied())?;
    let hidden = relations::hidden(Some(&card.owner_id), owners)?;
    let hits = HITS.get_many(fitting.iter().map(|search| hit_id(&search.id, listing_id)))?;
    let of = (card.owner_id.as_str(), card.org_id.as_deref());
    let mut is_first_hit = false;
    for (search, hit) in fitting.iter().zip(hits) {
        let owner_id = &search.value.owner_id;
        let is_old = is_update && card.published_at < search.value.active_since;
        if let Some(mut hit) = hit {
            if hit.value.extend(card) {
                HITS.save(&mut hit)?;
            }
        } else if !is_old
            && (!hidden.contains(owner_id) || organisations::is_answered_by_others(owner_id, of)?)
            && trial.is_shown_to(&search.value, people.get(owner_id))?
        {
            is_first_hit |= notices::keep(call, search, vec![Found::listing(&trial.stored)])?;
        }
    }
    Ok(is_first_hit)
}
