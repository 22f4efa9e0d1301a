//! Batches: candidates are looked for ahead of need, wait in the order of their scores, and come
//! when all before them are decided on.

use crate::{
    kept::{CANDIDATES, Candidate, OPINIONS, Opinion, Session, opinion, tie},
    life::{CANDIDATE, Candidacy, SESSION, State},
    pool::{Found, Look},
    score::Fit,
    session::{asks, of},
    types::{EXPOSURE_CAP, MOST_CANDIDATES, MatchingError, PASSED_FOR},
};
use common::{listings::Profile, pairings};
use portolan_sdk::{documents::Direction, prelude::*, timers};
use std::collections::BTreeSet;

/// Pages of the index that one call looks through.
const MOST_PAGES: usize = 3;
/// Of so many times a batch those come who were shown least.
const CHOICE: u32 = 3;
const HOURS_24: u64 = 86_400_000;
/// Ids that one question has.
const CHUNK: usize = 100;

/// Sees to it that there are candidates to decide on, as long as there are any at all. The caller
/// saves the session.
pub(crate) fn advance(
    call: &Call,
    session: &mut Stored<Session>,
    mine: &Profile,
) -> Result<(), MatchingError> {
    let action = if session.revision == 0 { "create" } else { "look" };
    let undecided = in_states(&session.id, &[Candidacy::New])?.len();
    let mut shown = undecided;
    if undecided == 0 {
        let mut waiting = waiting(session)?;
        for _ in 0..MOST_PAGES {
            let enough = waiting.len() >= session.value.batch_size as usize;
            if enough || session.value.looked {
                break;
            }
            look(call, session, mine)?;
            waiting = self::waiting(session)?;
        }
        shown = promote(call, session, waiting)?;
    }
    if shown == 0 && !session.value.looked {
        timers::set(&format!("look/{}", session.id), call.now(), "look", &of(&session.id))?;
    }
    let state = if shown > 0 { State::Ready } else { State::Exhausted };
    if session.revision != 0 {
        SESSION.step_to(&session.id, session.value.state, action, state)?;
    }
    session.value.state = state;
    Ok(())
}

/// Candidates of a session in some states, the best first.
pub(crate) fn in_states(
    session_id: &str,
    states: &[Candidacy],
) -> Result<Vec<Stored<Candidate>>, HostError> {
    let query = ordered(session_id, states).limit(MOST_CANDIDATES as u32);
    Ok(CANDIDATES.find(query)?.hits.into_iter().map(|hit| hit.document).collect())
}

pub(crate) fn ordered(session_id: &str, states: &[Candidacy]) -> Query {
    let states = field("state").one_of(states.iter().copied());
    Query::new()
        .filter(field("session_id").eq(session_id).and(states))
        .order_by("score", Direction::Descending)
        .order_by("tie", Direction::Ascending)
}

fn waiting(session: &Stored<Session>) -> Result<Vec<Stored<Candidate>>, HostError> {
    let query = ordered(&session.id, &[Candidacy::Waiting]);
    let page = CANDIDATES.find(query.limit(session.value.batch_size * CHOICE))?;
    Ok(page.hits.into_iter().map(|hit| hit.document).collect())
}

/// Looks at some more listings.
fn look(call: &Call, session: &mut Stored<Session>, mine: &Profile) -> Result<(), MatchingError> {
    let asks = asks(&session.value, mine).clone();
    let viewer_id = Some(session.value.owner_id.as_str());
    let look = Look { mine, asks: &asks, viewer_id, now: call.now() };
    let Found { fits, cursor } = match session.value.cursor.take() {
        None => look.first()?,
        cursor => look.on(cursor)?,
    };
    session.value.looked = cursor.is_none();
    session.value.cursor = cursor;
    let known = known(&session.id, fits.keys())?;
    let new: Vec<_> = fits.into_iter().filter(|(id, _)| !known.contains(id)).collect();
    let cooling = cooling(&mine.listing_id, new.iter().map(|(id, _)| id.as_str()))?;
    let passed = passed(call, &mine.listing_id, new.iter().map(|(id, _)| id.as_str()))?;
    for (listing_id, (other, fit)) in new {
        if session.value.found >= MOST_CANDIDATES {
            (session.value.looked, session.value.cursor) = (true, None);
            break;
        }
        if !cooling.contains(&listing_id) && !passed.contains(&listing_id) {
            add(call, session, &other, fit)?;
        }
    }
    Ok(())
}

/// Keeps a candidate who waits; the caller saves the session.
pub(crate) fn add(
    call: &Call,
    session: &mut Stored<Session>,
    other: &Profile,
    fit: Fit,
) -> Result<Stored<Candidate>, HostError> {
    let value = Candidate {
        session_id: session.id.clone(),
        for_owner: session.value.owner_id.clone(),
        listing_id: other.listing_id.clone(),
        owner_id: other.owner_id.clone(),
        state: Candidacy::Waiting,
        fit: fit.into(),
        tie: tie(&session.id, &other.listing_id),
        at: call.now(),
        pairing_id: None,
        reason_code: None,
    };
    let id = call.new_id("cand");
    let revision = CANDIDATES.put(&id, &value, Expect::Absent)?;
    session.value.found += 1;
    Ok(Stored { id, revision, value, created_at: call.now(), updated_at: call.now() })
}

/// Which of these listings are candidates of the session already.
fn known<'a>(
    session_id: &str,
    listing_ids: impl Iterator<Item = &'a String>,
) -> Result<BTreeSet<String>, HostError> {
    let ids: Vec<&String> = listing_ids.collect();
    let mut known = BTreeSet::new();
    for ids in ids.chunks(CHUNK) {
        let listings = field("listing_id").one_of(ids.iter().copied());
        let filter = field("session_id").eq(session_id).and(listings);
        let page = CANDIDATES.find(Query::new().filter(filter).limit(CHUNK as u32))?;
        known.extend(page.hits.into_iter().map(|hit| hit.document.value.listing_id));
    }
    Ok(known)
}

/// Which of these listings were passed not long ago, in whichever session.
fn passed<'a>(
    call: &Call,
    listing_id: &str,
    others: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>, HostError> {
    let others: Vec<&str> = others.collect();
    let ids = others.iter().map(|other| opinion(listing_id, other));
    let opinions = OPINIONS.get_many(ids)?.into_iter().zip(others);
    let rests = |opinion: &Opinion| !opinion.interested && opinion.at + PASSED_FOR > call.now();
    let passed =
        opinions.filter(|(opinion, _)| opinion.as_ref().is_some_and(|it| rests(&it.value)));
    Ok(passed.map(|(_, other)| other.to_owned()).collect())
}

/// Which of these listings there is something open with, or was not long ago.
pub(crate) fn cooling<'a>(
    listing_id: &str,
    others: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>, Refusal> {
    let others: Vec<&str> = others.collect();
    let mut cooling = BTreeSet::new();
    for others in others.chunks(CHUNK) {
        cooling.extend(pairings::cooling(listing_id, others.iter().copied())?);
    }
    Ok(cooling)
}

/// Puts the best of those who wait into a batch. Whoever is in many batches of the day without a
/// decision comes after others, so that a few do not take everything.
fn promote(
    call: &Call,
    session: &Stored<Session>,
    waiting: Vec<Stored<Candidate>>,
) -> Result<usize, HostError> {
    let since = call.now().saturating_sub(HOURS_24);
    let mut chosen = Vec::new();
    for candidate in waiting {
        let shown = field("listing_id")
            .eq(&candidate.value.listing_id)
            .and(field("state").eq(Candidacy::New))
            .and(field("at").gte(since));
        let is_worn = CANDIDATES.count(shown)? >= EXPOSURE_CAP;
        chosen.push((is_worn, candidate));
    }
    // The sort keeps the order of scores within each half.
    chosen.sort_by_key(|(is_worn, _)| *is_worn);
    chosen.truncate(session.value.batch_size as usize);
    let count = chosen.len();
    for (_, mut candidate) in chosen {
        candidate.value.state = Candidacy::New;
        candidate.value.at = call.now();
        CANDIDATES.save(&mut candidate)?;
    }
    Ok(count)
}

/// Takes a candidate to another state.
pub(crate) fn turn(
    call: &Call,
    candidate: &mut Stored<Candidate>,
    action: &str,
    to: Candidacy,
) -> Result<(), MatchingError> {
    let value = &mut candidate.value;
    CANDIDATE.step_to(&value.session_id, value.state, action, to)?;
    (value.state, value.at) = (to, call.now());
    Ok(CANDIDATES.save(candidate)?)
}
