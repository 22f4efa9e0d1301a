//! Batches: the best queued candidates are shown when all earlier ones are decided on.

use crate::{documents::*, queue::Search, score::*, session, states::*, types::*};
use people_kit::listings::Profile;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Shows the next batch if there are no undecided candidates, and sets the state of the session,
/// which the calling function saves.
pub(crate) fn advance(call: &Call, session: &mut Stored<Session>, mine: &Profile) -> Result<()> {
    let action = if session.revision == 0 { "create" } else { "look" };
    let mut is_any = is_undecided(&session.id)?;
    if !is_any {
        let mut search = Search::open(call, session, mine)?;
        let batch = search.batch()?;
        let is_complete = search.close()?;
        is_any = !batch.is_empty();
        show(call, session, batch)?;
        if !is_any && !is_complete {
            session::set_timer("look", session, call.now())?;
        }
    }
    let state = if is_any { State::Ready } else { State::Exhausted };
    if session.revision != 0 {
        SESSION.step_to(&session.id, session.value.state, action, state)?;
    }
    session.value.state = state;
    if is_any { set_check(call, session) } else { Ok(()) }
}

/// Sets the timer of the next check. Candidates whose people are erased are gone without an event, so
/// nothing else would search for the next batch.
pub(crate) fn set_check(call: &Call, session: &Stored<Session>) -> Result<()> {
    session::set_timer("check", session, call.now() + CHECK_INTERVAL)
}

/// Searches for the next batch if no candidates of the current one are left; otherwise checks again
/// later.
pub(crate) fn check(call: &Call, input: &SessionId) -> Result<()> {
    let session = session::find_searching(&input.session_id)?;
    match session.filter(|session| session.value.state == State::Ready) {
        Some(session) if is_undecided(&session.id)? => set_check(call, &session),
        Some(session) => session::set_timer("look", &session, call.now()),
        None => Ok(()),
    }
}

/// Whether there are undecided candidates. One is read, instead of counting them, so that the read
/// set contains it: of two concurrent calls that remove the last two, one runs again and sees that
/// none is left.
pub(crate) fn is_undecided(session_id: &str) -> Result<bool> {
    let page = CANDIDATES.find(ordered(session_id, &[Candidacy::New]).limit(1))?;
    Ok(!page.hits.is_empty())
}

/// Returns the candidates of a session in some states, best first.
pub(crate) fn in_states(session_id: &str, states: &[Candidacy]) -> Result<Vec<Stored<Candidate>>> {
    let query = ordered(session_id, states).limit(MOST_CANDIDATES as u32);
    Ok(CANDIDATES.find(query)?.into_documents().collect())
}

pub(crate) fn ordered(session_id: &str, states: &[Candidacy]) -> Query {
    let states = field("state").one_of(states.iter().copied());
    Query::new().filter(field("session_id").eq(session_id).and(states)).last("score").first("tie")
}

/// Returns the candidates of a session with these listings, by listing.
pub(crate) fn of_listings<'a>(
    session_id: &str,
    listing_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, Stored<Candidate>>> {
    let listings = field("listing_id").one_of(listing_ids);
    let query = Query::new().filter(field("session_id").eq(session_id).and(listings));
    let found = CANDIDATES.find(query.limit(MOST_CANDIDATES as u32))?.into_documents();
    Ok(found.map(|candidate| (candidate.value.listing_id.clone(), candidate)).collect())
}

/// Returns those of the listings that were in at least `EXPOSURE_CAP` batches of the last day
/// without a decision. Other listings are shown before them, so that a few listings do not get all
/// the attention.
pub(crate) fn overexposed(call: &Call, listing_ids: &[String]) -> Result<BTreeSet<String>> {
    let since = call.now().saturating_sub(DAY);
    let shown = field("listing_id")
        .one_of(listing_ids)
        .and(field("state").eq(Candidacy::New))
        .and(field("at").gte(since));
    let [counts] = CANDIDATES.count_by(["listing_id"], Query::new().filter(shown))?;
    let overexposed = counts.into_iter().filter(|counted| counted.count >= EXPOSURE_CAP);
    Ok(overexposed.filter_map(|counted| counted.value.as_str().map(str::to_owned)).collect())
}

/// Shows listings to the person of a session.
fn show(call: &Call, session: &Stored<Session>, batch: Vec<(Profile, Fit)>) -> Result<()> {
    let ids = batch.iter().map(|(other, _)| other.listing_id.as_str());
    let mut known = match session.revision {
        0 => BTreeMap::new(),
        _ => of_listings(&session.id, ids)?,
    };
    for (other, fit) in batch {
        let before = known.remove(&other.listing_id);
        show_one(call, session, before, &other, fit)?;
    }
    Ok(())
}

/// Shows one listing; `before` is its candidate if it was shown before.
pub(crate) fn show_one(
    call: &Call,
    session: &Stored<Session>,
    before: Option<Stored<Candidate>>,
    other: &Profile,
    fit: Fit,
) -> Result<()> {
    if let Some(mut candidate) = before {
        candidate.value.fit = fit;
        return transition(call, &mut candidate, "on_listing_active", Candidacy::New);
    }
    let candidate = Candidate {
        session_id: session.id.clone(),
        for_owner: session.value.owner_id.clone(),
        listing_id: other.listing_id.clone(),
        owner_id: other.owner_id.clone(),
        state: Candidacy::New,
        fit,
        tie: tie(&session.id, &other.listing_id),
        at: call.now(),
        pairing_id: None,
        reason_code: None,
    };
    CANDIDATES.add(call.new_id("cand"), candidate, call.now())?;
    Ok(())
}

pub(crate) fn transition(
    call: &Call,
    candidate: &mut Stored<Candidate>,
    action: &str,
    to: Candidacy,
) -> Result<()> {
    let value = &mut candidate.value;
    CANDIDATE.step_to(&value.session_id, value.state, action, to)?;
    (value.state, value.at) = (to, call.now());
    Ok(CANDIDATES.save(candidate)?)
}
