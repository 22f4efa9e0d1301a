//! Updates sessions when listings end, and when one person blocks another.

use crate::{arrivals, batch, documents::*, session, states::*, types::*};
use people_kit::listings::{self, Profile};
use people_kit::organisations;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of candidates that one call ends.
const CANDIDATES_AT_ONCE: u32 = 200;
/// The maximum number of listings that are read at once.
const LISTINGS_AT_ONCE: usize = 100;

/// A listing that has ended.
#[input]
pub(crate) struct ListingId {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) listing_id: String,
}

/// The part of `relationship.blocked` that is read.
#[input]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// Ends the sessions of a listing, and its candidacies in the sessions of others.
pub(crate) fn end_listing(call: &Call, listing_id: &str) -> Result<()> {
    // The event may be delivered after the listing was published again.
    if listings::profile(listing_id)?.is_some_and(|listing| listing.is_active()) {
        return Ok(());
    }
    let is_open = |session: &Stored<Session>| session.value.state.is_open();
    for session_id in BOOKS.get_or_default(listing_id)?.value.open.into_keys() {
        if let Some(mut session) = SESSIONS.get(&session_id)?.filter(is_open) {
            session::end(call, &mut session, "on_listing_ended", Reason::ListingInactive)?;
        }
    }
    let filter = field("listing_id").eq(listing_id).and(field("state").one_of(REACHABLE));
    let page = CANDIDATES.find(Query::new().filter(filter).limit(CANDIDATES_AT_ONCE))?;
    let (candidates, next) = page.into_parts();
    for mut candidate in candidates {
        make_unavailable(call, &mut candidate)?;
        if let Some(mut session) = session::find_searching(&candidate.value.session_id)? {
            session.value.news.removed += 1;
            arrivals::notify(call, &mut session)?;
            arrivals::schedule_next_batch(call, &session)?;
        }
    }
    if next.is_some() {
        let more = ListingId { listing_id: listing_id.to_owned() };
        timers::set(&format!("over/{listing_id}"), call.now(), "over", &more)?;
    }
    Ok(())
}

/// Makes two people unavailable as each other's candidates, without notifying either.
pub(crate) fn block_candidates(call: &Call, blocked: &Blocked) -> Result<()> {
    let pair = |one: &str, other: &str| field("for_owner").eq(one).and(field("owner_id").eq(other));
    let (one, other) = (&blocked.blocker_id, &blocked.blocked_id);
    let both = any_of([pair(one, other), pair(other, one)]);
    let filter = both.and(field("state").one_of(REACHABLE));
    let page = CANDIDATES.find(Query::new().filter(filter).limit(CANDIDATES_AT_ONCE))?;
    let candidates: Vec<_> = page.into_documents().collect();
    let of_orgs = listings_of_orgs(&candidates)?;
    for mut candidate in candidates {
        let Candidate { listing_id, for_owner, .. } = &candidate.value;
        // Others answer for a listing of an organisation.
        if let Some(listing) = of_orgs.get(listing_id)
            && organisations::is_answered_by_others(
                for_owner,
                (&listing.owner_id, listing.org_id.as_deref()),
            )?
        {
            continue;
        }
        make_unavailable(call, &mut candidate)?;
        if let Some(session) = SESSIONS.get(&candidate.value.session_id)? {
            arrivals::schedule_next_batch(call, &session)?;
        }
    }
    Ok(())
}

/// Returns the listings of organisations among those of the candidates.
fn listings_of_orgs(candidates: &[Stored<Candidate>]) -> Result<BTreeMap<String, Profile>> {
    let ids: BTreeSet<&str> =
        candidates.iter().map(|candidate| candidate.value.listing_id.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut found = Vec::new();
    for chunk in ids.chunks(LISTINGS_AT_ONCE) {
        found.extend(listings::profiles(chunk.iter().copied())?);
    }
    found.retain(|listing| listing.org_id.is_some());
    Ok(session::by_id(found))
}

pub(crate) fn make_unavailable(call: &Call, candidate: &mut Stored<Candidate>) -> Result<()> {
    batch::transition(call, candidate, "on_listing_ended", Candidacy::Unavailable)
}
