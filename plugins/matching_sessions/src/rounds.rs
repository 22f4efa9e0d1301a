//! Rounds: many listings at once, each of which is matched with at most one other, or with as many
//! as an offer accepts.

use crate::room::{Matching, Room, compute_matching, participants};
use crate::{confirm, documents::*, session, states::*, types::*, views::*};
use people_kit::listings::{self, Profile};
use people_kit::taxonomy::{self, NarrowInput};
use portolan_sdk::prelude::*;

/// The longest time until the deadline of a new round.
const LONGEST_AHEAD: u64 = 90 * DAY;

pub(crate) fn open(call: &Call, input: OpenRound) -> Result<RoundView> {
    let ahead = call.now() + 1..=call.now() + LONGEST_AHEAD;
    let deadline = time::parse(&input.deadline).filter(|deadline| ahead.contains(deadline));
    let Some(deadline) = deadline else {
        let expected = "an RFC 3339 instant at most 90 days ahead";
        return Err(Refusal::validation("/deadline", "range", expected).into());
    };
    let (category, title) = (input.category, input.title);
    // Checks that the category exists.
    let known = NarrowInput { code: Some(category.clone()), ..NarrowInput::default() };
    taxonomy::narrow(&known).map_err(MatchingError::Taxonomy)?;
    let value = Round { category, title, state: RoundState::Open, deadline, participants: 0 };
    let round = ROUNDS.add(call.new_id("rnd"), value, call.now())?;
    let due = RoundId { round_id: round.id.as_str().into() };
    timers::set(&format!("round/{}", round.id), deadline, "run_round", &due)?;
    Ok(RoundView::of(round))
}

pub(crate) fn list(input: Rounds) -> Result<Items<RoundView>> {
    let query = Query::new().filter(field("state").eq(RoundState::Open)).first("deadline");
    let mut page = ROUNDS.find(query.page(input.page))?;
    if let Some(category) = &input.category {
        page.hits.retain(|hit| listings::is_near(&hit.document.value.category, category));
    }
    Ok(Items::of(page, RoundView::of))
}

/// Adds a session to a round. The calling function saves the session.
pub(crate) fn join(
    call: &Call,
    session: &mut Stored<Session>,
    mine: &Profile,
    round_id: Option<OtherId>,
) -> Result<()> {
    let Some(round_id) = round_id else {
        let refusal = Refusal::validation("/round_id", "required", "the id of a round");
        return Err(refusal.next(Next::action(CAPABILITY, "rounds")).into());
    };
    // They are counted here too, because the erasure of a participant leaves the number of the round.
    let others = participants(&round_id)?;
    let can_join = |round: &Stored<Round>| {
        let near = |category: &str| listings::is_near(&round.value.category, category);
        others.len() < MOST_IN_ROUND && (near(&mine.category) || near(&mine.counterpart))
    };
    let round = find_collecting(call, &round_id)?.filter(can_join);
    let mut round = round.ok_or(MatchingError::RoundClosed)?;
    let is_same_owner = |other: &Stored<Session>| other.value.owner_id == session.value.owner_id;
    if others.iter().any(is_same_owner) {
        return Err(MatchingError::RoundClosed);
    }
    round.value.participants = others.len() + 1;
    ROUNDS.save(&mut round)?;
    session.value.state = State::Collecting;
    session.value.expires_at = round.value.deadline;
    session.value.round_id = Some(round_id.into());
    Ok(())
}

/// Returns a round whose deadline has not passed.
fn find_collecting(call: &Call, round_id: &str) -> Result<Option<Stored<Round>>> {
    let is_collecting = |round: &Stored<Round>| {
        round.value.state == RoundState::Open && round.value.deadline > call.now()
    };
    Ok(ROUNDS.get(round_id)?.filter(is_collecting))
}

/// Removes a session from its round. The calling function saves the session.
pub(crate) fn leave(call: &Call, session: &mut Stored<Session>) -> Result<()> {
    if session.value.state == State::Collecting
        && let Some(round_id) = &session.value.round_id
        && let Some(mut round) = ROUNDS.get(round_id)?
    {
        round.value.participants = round.value.participants.saturating_sub(1);
        ROUNDS.save(&mut round)?;
    }
    confirm::leave_partners(call, session, "on_listing_ended")
}

/// Returns the id by which others rank a session of the same round.
pub(crate) fn candidate_id(session_id: &str) -> String {
    format!("cand_{}", session_id.trim_start_matches("mse_"))
}

fn session_of(candidate_id: &str) -> String {
    format!("mse_{}", candidate_id.trim_start_matches("cand_"))
}

/// Returns all possible partners of the session in the round, on one page; nobody once the round
/// has run, or if the session has left it.
pub(crate) fn candidates(call: &Call, session: &Stored<Session>) -> Result<Items<CandidateView>> {
    if session.value.state != State::Collecting {
        return Ok(Items { items: Vec::new(), next_cursor: None });
    }
    let round_id = session.value.round_id.as_deref().unwrap_or_default();
    let room = Room::new(call, participants(round_id)?)?;
    let fits = room.fits(session)?.into_iter();
    let mine = room.profile(session);
    let items = fits.filter_map(|(_, other, fit)| {
        let shown = room.profile(other)?.clone();
        let id = candidate_id(&other.id);
        Some(CandidateView::of_round(id, &session.id, shown, mine, &fit))
    });
    Ok(Items { items: items.collect(), next_cursor: None })
}

pub(crate) fn rank(call: &Call, input: Rank) -> Result<Answer<SessionView>> {
    let mut session = Session::load_own(call, &input.session_id)?;
    if let Some(round_id) = &session.value.round_id
        && find_collecting(call, round_id)?.is_none()
    {
        return Err(MatchingError::RoundClosed);
    }
    session.step(&SESSION, "rank")?;
    session::listing(&session.value)?;
    let round_id = session.value.round_id.clone().unwrap_or_default();
    let room = Room::new(call, participants(&round_id)?)?;
    let fits = room.fits(&session)?;
    let ranked = |candidate_id: &OtherId| {
        let session_id = session_of(candidate_id);
        let (_, other, _) = fits.iter().find(|(_, other, _)| other.id == session_id)?;
        Some(Ranked { session_id, owner_id: other.value.owner_id.clone() })
    };
    let ranking: Option<Vec<Ranked>> = input.ordered_candidate_ids.iter().map(ranked).collect();
    let Some(ranking) = ranking else {
        return Err(MatchingError::CandidateNotFound { session_id: session.id });
    };
    session.value.ranking = ranking;
    session.value.only_ranked = input.only_these;
    session::save(call, &mut session)?;
    let next = read("get", &session.id);
    Ok(Answer::new(SessionView::of(&session)?).next(next))
}

pub(crate) fn run(call: &Call, input: &RoundId) -> Result<()> {
    let is_due = |round: &Stored<Round>| {
        round.value.state == RoundState::Open && round.value.deadline <= call.now()
    };
    let Some(mut round) = ROUNDS.get(&input.round_id)?.filter(is_due) else { return Ok(()) };
    let room = Room::new(call, participants(&round.id)?)?;
    let matching = compute_matching(&room)?;
    let to = if matching.is_some() { RoundState::Done } else { RoundState::Cancelled };
    round.value.state = ROUND.step_to(&round.id, RoundState::Open, "run_round", to)?;
    ROUNDS.save(&mut round)?;
    let participants = room.sessions.len();
    let has_run = matching.is_some();
    let matching = matching.unwrap_or_else(Matching::empty);
    let (stable, blocking_pairs) = (matching.blocking_pairs == 0, matching.blocking_pairs);
    for (index, mut session) in room.sessions.iter().cloned().enumerate() {
        let partners = matching.partners(&room, index);
        let state = match (has_run, partners.is_empty()) {
            (false, _) => State::Cancelled,
            (true, true) => State::Unpaired,
            (true, false) => State::Proposed,
        };
        session.value.outcome = Some(Outcome { partners, stable, blocking_pairs, participants });
        session.step_to(&SESSION, "run_round", state)?;
        if state == State::Proposed {
            session::set_timer("end_round", &session, call.now() + CONFIRM_FOR)?;
        } else {
            session.value.reason = Some(Reason::Round);
            leave_book(&session)?;
        }
        session::save(call, &mut session)?;
        let (round_id, paired) = (Some(round.id.clone()), Some(state == State::Proposed));
        let facts = Facts { round_id, paired, ..Facts::default() };
        let next = read("result", &session.id);
        session::notify(&session, ROUND_COMPLETED, "The round is over.", next, facts)?;
    }
    Ok(())
}
