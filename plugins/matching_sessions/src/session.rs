//! Sessions, from `create` to their end.

use crate::pool::{self, CandidateSearch};
use crate::{batch, documents::*, rounds, states::*, types::*, views::*};
use people_kit::listings::{self, Profile};
use people_kit::taxonomy::{self, CheckInput, Criteria, Side};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// Returns a listing of the person; a listing of another owner is not found. Matching connects the
/// owner of a listing, so nobody else may act here, even if they may change the listing.
fn load_owned_listing(owner_id: &str, listing_id: &str) -> Result<Profile> {
    let is_theirs = |listing: &Profile| listing.owner_id == owner_id;
    listings::profiles_for_matching([listing_id])?
        .pop()
        .filter(is_theirs)
        .ok_or(MatchingError::ListingNotFound)
}

/// Returns the person's own listing, if it is active.
pub(crate) fn own_listing(owner_id: &str, listing_id: &str) -> Result<Profile> {
    let listing = load_owned_listing(owner_id, listing_id)?;
    if !listing.is_active() {
        return Err(MatchingError::ListingNotActive { listing_id: listing.listing_id });
    }
    if !listing.is_of_age() {
        return Err(MatchingError::AgeRestricted { min_age: listing.min_age, has_owner: true });
    }
    Ok(listing)
}

/// Returns the listing of a session, which belongs to its owner.
pub(crate) fn listing(session: &Session) -> Result<Profile> {
    load_owned_listing(&session.owner_id, &session.listing_id)
}

/// Removes the listings of people who are too young for them and, if the person of the session is
/// too young, all listings with a minimum age.
pub(crate) fn retain_of_age(session: &Session, profiles: &mut Vec<Profile>) -> Result<()> {
    profiles.retain(Profile::is_of_age);
    if profiles.iter().any(|other| other.min_age > 0) && !listing(session)?.is_of_age() {
        profiles.retain(|other| other.min_age == 0);
    }
    Ok(())
}

pub(crate) fn create(call: &Call, input: Create) -> Result<Answer<SessionView>> {
    let owner_id = call.require_owner()?.to_owned();
    let mine = own_listing(&owner_id, &input.listing_id)?;
    let criteria = checked_criteria(&mine, input.criteria_override, "/criteria_override")?;
    let can_have_several =
        input.mode == Mode::Round && mine.side == Side::Offer && mine.counterpart_side != mine.side;
    if input.capacity > 1 && !can_have_several {
        let expected = "1; more only for an offer in a round between two sides";
        return Err(Refusal::validation("/capacity", "maximum", expected).into());
    }
    let expires_at = call.now() + u64::from(input.ttl_hours) * HOUR;
    let value = Session {
        owner_id,
        listing_id: mine.listing_id.clone(),
        category: mine.category.clone(),
        mode: input.mode,
        state: State::Exhausted,
        expires_at,
        batch_size: input.batch_size,
        criteria,
        capacity: input.capacity,
        ..Session::default()
    };
    let mut session = Stored::new(call.new_id("mse"), value, call.now());
    if enter_book(&session)? > MOST_SESSIONS {
        return Err(MatchingError::SessionLimitReached);
    }
    match input.mode {
        Mode::Round => rounds::join(call, &mut session, &mine, input.round_id)?,
        Mode::Stream => {
            set_timer("expire", &session, expires_at)?;
            session.value.watch = watch(call, &session.value, &mine)?;
            batch::advance(call, &mut session, &mine)?;
        }
    }
    save(call, &mut session)?;
    shown(&session)
}

/// Returns the view of a session, with the next step that reads its candidates, its result or the
/// session itself.
pub(crate) fn shown(session: &Stored<Session>) -> Result<Answer<SessionView>> {
    let next = match session.value.state {
        State::Ready | State::Collecting => read("candidates", &session.id),
        State::Proposed => read("result", &session.id),
        _ => read("get", &session.id),
    };
    Ok(Answer::new(SessionView::of(session)?).next(next))
}

pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<SessionView>>> {
    Items::own(call, |owner_id| {
        let states = input.state.map(|states| field("state").one_of(states));
        let filter = field("owner_id").eq(owner_id).and(states);
        let page = SESSIONS.find(input.page.last_changed(filter))?;
        Items::try_of(page, |session| SessionView::of(&session))
    })
}

/// Returns a session of the caller; refuses if it does not have the expected version.
fn load_for_change(
    call: &Call,
    session_id: &str,
    expected: Option<Version>,
) -> Result<Stored<Session>> {
    let session = Session::load_own(call, session_id)?;
    let current = || SessionView::of(&session).ok();
    session.ensure_version(expected, current, read("get", session_id))?;
    Ok(session)
}

pub(crate) fn refine(call: &Call, input: Refine) -> Result<Answer<SessionView>> {
    let mut session = load_for_change(call, &input.session_id, input.expected_version)?;
    session.step_to(&SESSION, "refine", session.value.state)?;
    let mine = own_listing(&session.value.owner_id, &session.value.listing_id)?;
    if let Some(size) = input.patch.batch_size {
        session.value.batch_size = size;
    }
    if let Some(criteria) = input.patch.criteria {
        session.value.criteria = checked_criteria(&mine, Some(criteria), "/patch/criteria")?;
    }
    for undecided in batch::in_states(&session.id, &[Candidacy::New])? {
        CANDIDATES.delete(&undecided.id, Expect::Revision(undecided.revision))?;
    }
    restart(call, session, &mine)
}

/// Empties the queue, so that the search begins with the newest listings, and shows the first batch.
fn restart(
    call: &Call,
    mut session: Stored<Session>,
    mine: &Profile,
) -> Result<Answer<SessionView>> {
    QUEUES.delete(&session.id, Expect::Any)?;
    session.value.come.clear();
    session.value.found = CANDIDATES.count(field("session_id").eq(&session.id))?;
    session.value.watch = watch(call, &session.value, mine)?;
    batch::advance(call, &mut session, mine)?;
    save(call, &mut session)?;
    shown(&session)
}

pub(crate) fn pause(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = load_for_change(call, &input.session_id, input.expected_version)?;
    session.step(&SESSION, "pause")?;
    session.value.watch.clear();
    save(call, &mut session)?;
    shown(&session)
}

pub(crate) fn resume(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = load_for_change(call, &input.session_id, input.expected_version)?;
    session.step_to(&SESSION, "resume", State::Exhausted)?;
    let mine = own_listing(&session.value.owner_id, &session.value.listing_id)?;
    // Listings that were published in the meantime are among the newest.
    restart(call, session, &mine)
}

pub(crate) fn close(call: &Call, input: Step) -> Result<Answer<SessionView>> {
    let mut session = load_for_change(call, &input.session_id, input.expected_version)?;
    end(call, &mut session, "close", Reason::Closed)?;
    shown(&session)
}

pub(crate) fn expire(call: &Call, input: &SessionId) -> Result<()> {
    let Some(mut session) = SESSIONS.get(&input.session_id)? else { return Ok(()) };
    let is_running =
        session.value.state == State::Paused || SEARCHING.contains(&session.value.state);
    if is_running && session.value.expires_at <= call.now() {
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
    leave_book(session)?;
    QUEUES.delete(&session.id, Expect::Any)?;
    for action in ["check", "expire"] {
        timers::cancel(&timer(action, session))?;
    }
    save(call, session)?;
    let facts = Facts { session_id: session.id.clone(), reason: Some(reason), ..Facts::default() };
    let data = Data::new(call, session.resource(), CLOSED_SUMMARY, facts);
    Ok(session.notify_owner(SESSION_CLOSED, &data)?)
}

/// The summary of the end of a session.
pub(crate) const CLOSED_SUMMARY: &str = "The matching session is over.";

/// Publishes an event for the owner of a session, with the action that reads its subject.
pub(crate) fn notify(
    session: &Stored<Session>,
    event: SessionEvent,
    summary: &'static str,
    next: Next,
    facts: Facts,
) -> Result<()> {
    let facts = Facts { session_id: session.id.clone(), ..facts };
    let data = Data::by_system(session.resource(), summary, facts).next(next);
    Ok(session.notify_owner(event, &data)?)
}

pub(crate) fn save(call: &Call, session: &mut Stored<Session>) -> Result<()> {
    session.value.changed_at = call.now();
    Ok(session.save()?)
}

pub(crate) fn set_timer(action: &str, session: &Stored<Session>, at: u64) -> Result<()> {
    let input = SessionId { session_id: session.id.as_str().into() };
    Ok(timers::set(&timer(action, session), at, action, &input)?)
}

/// Returns the name of a timer of a session. It has the owner's id, so that their erasure removes the
/// timer.
pub(crate) fn timer(action: &str, session: &Stored<Session>) -> String {
    format!("{action}/{}/{}", session.value.owner_id, session.id)
}

/// Returns a session, if it searches for candidates.
pub(crate) fn find_searching(session_id: &str) -> Result<Option<Stored<Session>>> {
    let is_searching = |session: &Stored<Session>| SEARCHING.contains(&session.value.state);
    Ok(SESSIONS.get(session_id)?.filter(is_searching))
}

pub(crate) fn by_id(profiles: impl IntoIterator<Item = Profile>) -> BTreeMap<String, Profile> {
    profiles.into_iter().map(|profile| (profile.listing_id.clone(), profile)).collect()
}

/// Returns the criteria: the session's own, or else the listing's.
pub(crate) fn criteria_of<'a>(session: &'a Session, mine: &'a Profile) -> &'a Criteria {
    session.criteria.as_ref().unwrap_or(&mine.criteria)
}

pub(crate) fn watch(call: &Call, session: &Session, mine: &Profile) -> Result<Vec<String>> {
    let criteria = criteria_of(session, mine);
    let viewer_id = Some(session.owner_id.as_str());
    let search = CandidateSearch { mine, criteria, viewer_id, now: call.now(), exact: true };
    Ok(pool::watch_keys(mine, &search.narrowed(&criteria.must)?))
}

/// Checks the criteria against the listing's category; `at` is their JSON Pointer in the body.
fn checked_criteria(
    mine: &Profile,
    criteria: Option<Criteria>,
    at: &str,
) -> Result<Option<Criteria>> {
    let Some(criteria) = criteria else { return Ok(None) };
    let input = CheckInput {
        code: mine.category.clone(),
        side: mine.side,
        attributes: mine.attributes.clone(),
        criteria: criteria.clone(),
        text: String::new(),
    };
    taxonomy::check(&input).map_err(|error| MatchingError::Taxonomy(error.at("", at)))?;
    Ok(Some(criteria))
}
