//! Sessions, from `create` to their end.

use crate::{
    batch,
    kept::*,
    life::*,
    pool::{self, Look},
    rounds,
    types::*,
    views::*,
};
use people_kit::{
    listings::{self, Profile},
    taxonomy::{self, CheckInput, Criteria, Side},
};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// Returns the person's own listing. Matching connects a listing's owner: nobody else may act for
/// them, even if they may change the listing.
fn of_owner(owner_id: &str, listing_id: &str) -> Result<Profile> {
    let is_theirs = |listing: &Profile| listing.owner_id == owner_id;
    listings::matched([listing_id])?.pop().filter(is_theirs).ok_or(MatchingError::ListingNotFound)
}

/// Returns the person's own listing, if it is active.
pub(crate) fn own_listing(owner_id: &str, listing_id: &str) -> Result<Profile> {
    let listing = of_owner(owner_id, listing_id)?;
    if !listing.is_active() {
        return Err(MatchingError::ListingNotActive { listing_id: listing.listing_id });
    }
    Ok(listing)
}

/// Returns the listing of a session, which belongs to its owner.
pub(crate) fn listing(session: &Session) -> Result<Profile> {
    of_owner(&session.owner_id, &session.listing_id)
}

pub(crate) fn create(call: &Call, input: Create) -> Result<Answer<SessionView>> {
    let owner_id = call.require_owner()?.to_owned();
    let mine = own_listing(&owner_id, &input.listing_id)?;
    let criteria = input.criteria_override;
    let criteria = checked(&mine, criteria, "/criteria_override")?;
    let several =
        input.mode == Mode::Round && mine.side == Side::Offer && mine.counterpart_side != mine.side;
    if input.capacity > 1 && !several {
        let expected = "1, but for who offers something in a round where two sides meet";
        return Err(Refusal::validation("/capacity", "maximum", expected).into());
    }
    let id = call.new_id("mse");
    if BOOKS.enter(&mine.listing_id, &id)? > MOST_SESSIONS {
        return Err(MatchingError::SessionLimitReached);
    }
    let expires_at = call.now() + u64::from(input.ttl_hours) * HOUR;
    let value = Session {
        owner_id,
        listing_id: mine.listing_id.clone(),
        category: mine.category.clone(),
        mode: input.mode,
        state: State::Exhausted,
        changed_at: call.now(),
        expires_at,
        batch_size: input.batch_size,
        criteria,
        found: 0,
        watch: Vec::new(),
        come: BTreeMap::new(),
        news: Untold::default(),
        reason: None,
        round_id: None,
        ranking: Vec::new(),
        only_ranked: false,
        capacity: input.capacity,
        outcome: None,
    };
    let mut session = Stored::new(id, value, call.now());
    match input.mode {
        Mode::Round => rounds::join(call, &mut session, &mine, input.round_id)?,
        Mode::Stream => {
            timers::set(&expiry(&session.id), expires_at, "expire", &of(&session.id))?;
            session.value.watch = watch(call, &session.value, &mine)?;
            batch::advance(call, &mut session, &mine)?;
        }
    }
    session.save()?;
    shown(&session)
}

/// Returns a session, with the call that reads its candidates as the next step.
pub(crate) fn shown(session: &Stored<Session>) -> Result<Answer<SessionView>> {
    let next = match session.value.state {
        State::Ready | State::Collecting => read("candidates", &session.id),
        State::Proposed => read("result", &session.id),
        _ => read("get", &session.id),
    };
    Ok(Answer::new(SessionView::of(session)?).next(next))
}

/// Returns a session of the caller that is about to be changed, in the expected version.
fn changing(call: &Call, session_id: &str, expected: Option<Version>) -> Result<Stored<Session>> {
    let session = Session::load_own(call, session_id)?;
    let current = || SessionView::of(&session).ok();
    session.ensure_version(expected, current, read("get", session_id))?;
    Ok(session)
}

pub(crate) fn refine(call: &Call, input: Refine) -> Result<Answer<SessionView>> {
    let mut session = changing(call, &input.session_id, input.expected_version)?;
    let state = session.value.state;
    session.step_to(&SESSION, "refine", state)?;
    let mine = own_listing(&session.value.owner_id, &session.value.listing_id)?;
    if let Some(size) = input.patch.batch_size {
        session.value.batch_size = size;
    }
    if let Some(criteria) = input.patch.criteria {
        session.value.criteria = checked(&mine, Some(criteria), "/patch/criteria")?;
    }
    for undecided in batch::in_states(&session.id, &[Candidacy::New])? {
        CANDIDATES.delete(&undecided.id, Expect::Revision(undecided.revision))?;
    }
    begin_anew(call, &mut session, &mine)?;
    batch::advance(call, &mut session, &mine)?;
    save(call, &mut session)?;
    shown(&session)
}

/// Empties the queue, so that the next search begins with the newest listings.
fn begin_anew(call: &Call, session: &mut Stored<Session>, mine: &Profile) -> Result<()> {
    QUEUES.delete(&session.id, Expect::Any)?;
    session.value.come.clear();
    session.value.found = CANDIDATES.count(field("session_id").eq(&session.id))?;
    let _: () = session.value.watch = watch(call, &session.value, mine)?;
    Ok(())
}

pub(crate) fn pause(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = changing(call, &input.session_id, input.expected_version)?;
    session.step(&SESSION, "pause")?;
    session.value.watch.clear();
    save(call, &mut session)?;
    shown(&session)
}

pub(crate) fn resume(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = changing(call, &input.session_id, input.expected_version)?;
    session.step_to(&SESSION, "resume", State::Exhausted)?;
    let mine = own_listing(&session.value.owner_id, &session.value.listing_id)?;
    // Listings that were published in the meantime are among the newest.
    begin_anew(call, &mut session, &mine)?;
    batch::advance(call, &mut session, &mine)?;
    save(call, &mut session)?;
    shown(&session)
}

pub(crate) fn close(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = changing(call, &input.session_id, input.expected_version)?;
    end(call, &mut session, "close", Reason::Closed)?;
    shown(&session)
}

/// Ends a session that has expired.
pub(crate) fn expire(call: &Call, input: &SessionId) -> Result<()> {
    let Some(mut session) = SESSIONS.get(&input.session_id)? else { return Ok(()) };
    let runs = session.value.state == State::Paused || LOOKING.contains(&session.value.state);
    if runs && session.value.expires_at <= call.now() {
        end(call, &mut session, "expire", Reason::Expired)?;
    }
    Ok(())
}

/// Applies an action that ends a session, and removes it from the open sessions of its listing and
/// from every index that finds it.
pub(crate) fn end(
    call: &Call,
    session: &mut Stored<Session>,
    action: &str,
    reason: Reason,
) -> Result<()> {
    if session.value.mode == Mode::Round {
        rounds::leave(call, session)?;
    }
    session.step(&SESSION, action)?;
    session.value.reason = Some(reason);
    session.value.watch.clear();
    session.value.come.clear();
    BOOKS.leave(&session.value.listing_id, &session.id)?;
    QUEUES.delete(&session.id, Expect::Any)?;
    timers::cancel(&expiry(&session.id))?;
    save(call, session)?;
    let ended = Ended { session_id: session.id.clone(), reason };
    let data = Data::new(call, session.resource(), "The matching session is over.", ended);
    Ok(session.tell_owner(SESSION_CLOSED, &data)?)
}

pub(crate) fn save(call: &Call, session: &mut Stored<Session>) -> Result<()> {
    session.value.changed_at = call.now();
    Ok(session.save()?)
}

fn expiry(session_id: &str) -> String {
    format!("expire/{session_id}")
}

pub(crate) fn of(session_id: &str) -> SessionId {
    SessionId { session_id: session_id.into() }
}

/// Returns the criteria: the session's own, or else the listing's.
pub(crate) fn asks<'a>(session: &'a Session, mine: &'a Profile) -> &'a Criteria {
    session.criteria.as_ref().unwrap_or(&mine.criteria)
}

pub(crate) fn watch(call: &Call, session: &Session, mine: &Profile) -> Result<Vec<String>> {
    let asks = asks(session, mine);
    let look =
        Look { mine, asks, viewer_id: Some(&session.owner_id), now: call.now(), exact: true };
    Ok(pool::watch(mine, &look.narrowed(&asks.must)?))
}

/// Checks the criteria against the listing's category; `at` is their JSON Pointer in the body.
fn checked(mine: &Profile, criteria: Option<Criteria>, at: &str) -> Result<Option<Criteria>> {
    let Some(criteria) = criteria else { return Ok(None) };
    let attributes = mine.attributes.clone();
    let input = CheckInput {
        code: mine.category.clone(),
        side: mine.side,
        attributes,
        criteria: criteria.clone(),
        text: String::new(),
    };
    taxonomy::check(&input).map_err(|error| MatchingError::Taxonomy(error.at("", at)))?;
    Ok(Some(criteria))
}
