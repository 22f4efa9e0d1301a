//! Rounds: many listings at once, each of which gets at most one other.

use crate::{
    decide,
    kept::{Outcome, Partner, ROUNDS, Round, SESSIONS, Session},
    life::{ROUND, RoundState, SESSION, State},
    room::{Room, matched, participants, partner},
    score::Fit,
    session::{leave_book, of, own, resource, save, subject},
    types::{
        CONFIRM_FOR, Candidates, Completed, Confirm, DAY, MOST_IN_ROUND, MatchingError, OpenRound,
        ROUND_COMPLETED, Rank, Reason, RoundId, Rounds, SessionId, candidates as list_candidates,
        get, result as read_result,
    },
    views::{CandidateView, ResultView, RoundView, SessionView},
};
use common::{
    event::Data,
    listings::{self, Profile},
    page::Items,
    pairings::{self, Origin},
    relations, time,
};
use portolan_sdk::{documents::Direction, events::Audience, prelude::*, timers};

/// How far ahead a round may be opened.
const LONGEST_AHEAD: u64 = 90 * DAY;

pub(crate) fn open(call: &Call, input: OpenRound) -> Result<RoundView, MatchingError> {
    let ahead = call.now() + 1..=call.now() + LONGEST_AHEAD;
    let deadline = time::parse(&input.deadline).filter(|deadline| ahead.contains(deadline));
    let Some(deadline) = deadline else {
        let expected = "an RFC 3339 instant at most 90 days ahead";
        return Err(Refusal::validation("/deadline", "range", expected).into());
    };
    let (category, title) = (input.category, input.title);
    let value = Round { category, title, state: RoundState::Open, deadline, participants: 0 };
    let id = call.new_id("rnd");
    let revision = ROUNDS.put(&id, &value, Expect::Absent)?;
    let round = RoundId { round_id: id.clone() };
    timers::set(&format!("round/{id}"), deadline, "run_round", &round)?;
    let now = call.now();
    Ok(RoundView::of(Stored { id, revision, value, created_at: now, updated_at: now }))
}

pub(crate) fn list(input: Rounds) -> Result<Items<RoundView>, MatchingError> {
    let query = Query::new()
        .filter(field("state").eq(RoundState::Open))
        .order_by("deadline", Direction::Ascending)
        .limit(input.page.limit)
        .cursor(input.page.cursor);
    let mut page = ROUNDS.find(query)?;
    if let Some(category) = &input.category {
        page.hits.retain(|hit| listings::is_near(&hit.document.value.category, category));
    }
    Ok(Items::of(page, RoundView::of))
}

/// Puts a session into a round. The caller writes the session.
pub(crate) fn join(
    call: &Call,
    session: &mut Stored<Session>,
    mine: &Profile,
    round_id: Option<String>,
) -> Result<(), MatchingError> {
    let Some(round_id) = round_id else {
        let mut refusal = Refusal::validation("/round_id", "required", "the id of a round");
        refusal.next =
            Some(Box::new(Next::call(crate::types::CAPABILITY).field("action", "rounds")));
        return Err(refusal.into());
    };
    let takes = |round: &Stored<Round>| {
        let near = |category: &str| listings::is_near(&round.value.category, category);
        round.value.state == RoundState::Open
            && round.value.deadline > call.now()
            && round.value.participants < MOST_IN_ROUND
            && (near(&mine.category) || near(&mine.counterpart))
    };
    let mut round = ROUNDS.get(&round_id)?.filter(takes).ok_or(MatchingError::RoundClosed)?;
    let own = |it: &Stored<Session>| it.value.owner_id == session.value.owner_id;
    if participants(&round_id)?.iter().any(own) {
        return Err(MatchingError::RoundClosed);
    }
    round.value.participants += 1;
    ROUNDS.save(&mut round)?;
    session.value.state = State::Collecting;
    session.value.expires_at = round.value.deadline;
    session.value.round_id = Some(round_id);
    Ok(())
}

/// The id by which others rank a session of the same round.
fn candidate_id(session_id: &str) -> String {
    format!("cand_{}", session_id.trim_start_matches("mse_"))
}

fn session_of(candidate_id: &str) -> String {
    format!("mse_{}", candidate_id.trim_start_matches("cand_"))
}

/// Everybody in the round whom the session could get, on one page.
pub(crate) fn candidates(
    call: &Call,
    session: &Stored<Session>,
    _input: &Candidates,
) -> Result<Items<CandidateView>, MatchingError> {
    let round_id = session.value.round_id.as_deref().unwrap_or_default();
    let room = Room::new(call, participants(round_id)?)?;
    let fits = room.fits(session)?.into_iter();
    let items = fits.filter_map(|(place, fit)| {
        let other = room.sessions.get(place)?;
        let shown = room.profile(other)?.clone();
        Some(CandidateView::of_round(candidate_id(&other.id), &session.id, shown, fit))
    });
    Ok(Items { items: items.collect(), next_cursor: None })
}

pub(crate) fn rank(call: &Call, input: Rank) -> Result<Answer<SessionView>, MatchingError> {
    let mut session = own(call, &input.session_id)?;
    SESSION.step(&session.id, session.value.state, "rank")?;
    let round_id = session.value.round_id.clone().unwrap_or_default();
    let room = Room::new(call, participants(&round_id)?)?;
    let there: Vec<&str> = room
        .fits(&session)?
        .into_iter()
        .filter_map(|(place, _)| Some(room.sessions.get(place)?.id.as_str()))
        .collect();
    let ranking: Vec<String> =
        input.ordered_candidate_ids.iter().map(|id| session_of(id)).collect();
    if ranking.iter().any(|id| !there.contains(&id.as_str())) {
        return Err(MatchingError::CandidateNotFound { session_id: session.id });
    }
    session.value.ranking = ranking;
    session.value.only_ranked = input.only_these;
    save(call, &mut session)?;
    let next = get(session.id.as_str());
    Ok(Answer::new(SessionView::of(&session)?).next(next))
}

/// Runs a round whose deadline has passed.
pub(crate) fn run(call: &Call, input: &RoundId) -> Result<(), MatchingError> {
    let due = |round: &Stored<Round>| {
        round.value.state == RoundState::Open && round.value.deadline <= call.now()
    };
    let Some(mut round) = ROUNDS.get(&input.round_id)?.filter(due) else { return Ok(()) };
    let room = Room::new(call, participants(&round.id)?)?;
    let matched = matched(&room)?;
    let to = if matched.is_some() { RoundState::Done } else { RoundState::Cancelled };
    round.value.state = ROUND.step_to(&round.id, RoundState::Open, "run_round", to)?;
    ROUNDS.save(&mut round)?;
    let participants = room.sessions.len();
    for (place, session) in room.sessions.iter().enumerate() {
        let mut session = session.clone();
        let state = match &matched {
            None => State::Cancelled,
            Some(matched) => {
                let partner = partner(&room, matched, place, &session)?;
                let state = if partner.is_some() { State::Proposed } else { State::Unpaired };
                let blocking_pairs = matched.blocking_pairs;
                let stable = blocking_pairs == 0;
                let outcome = Outcome { partner, stable, blocking_pairs, participants };
                session.value.outcome = Some(outcome);
                state
            }
        };
        session.value.state =
            SESSION.step_to(&session.id, session.value.state, "run_round", state)?;
        if state == State::Proposed {
            let at = call.now() + CONFIRM_FOR;
            timers::set(&format!("end/{}", session.id), at, "end_round", &of(&session.id))?;
        } else {
            session.value.reason = Some(Reason::Round);
            leave_book(&session.value.listing_id, &session.id)?;
        }
        save(call, &mut session)?;
        let (session_id, paired) = (session.id.clone(), state == State::Proposed);
        let more = Completed { session_id, round_id: round.id.clone(), paired };
        let data = Data::by_nobody(resource(&session), "The round is over.", more);
        let data = data.next(read_result(session.id.as_str()));
        let audience = Audience::Owner(session.value.owner_id.clone());
        ROUND_COMPLETED.publish(audience, subject(&session.id), &data)?;
    }
    Ok(())
}

/// Says whether the person wants whom the round has found. What the other one said is not told,
/// until both want it.
pub(crate) fn confirm(call: &Call, input: Confirm) -> Result<Answer<ResultView>, MatchingError> {
    let mut session = own(call, &input.session_id)?;
    SESSION.step_to(&session.id, session.value.state, "confirm", State::Proposed)?;
    let partner = session.value.outcome.as_mut().and_then(|outcome| outcome.partner.as_mut());
    let Some(partner) = partner else {
        return Err(MatchingError::CandidateNotFound { session_id: session.id });
    };
    partner.accepted = Some(input.accept);
    let (their_id, their_listing) = (partner.session_id.clone(), partner.listing_id.clone());
    let theirs = SESSIONS.get(&their_id)?.filter(|it| it.value.state == State::Proposed);
    let Some(mut theirs) = theirs else {
        end_one(call, &mut session, "confirm", State::Unpaired)?;
        return shown(call, &session);
    };
    let accepted = |session: &Session| session.outcome.as_ref()?.partner.as_ref()?.accepted;
    if !input.accept {
        for session in [&mut session, &mut theirs] {
            end_one(call, session, "confirm", State::Unpaired)?;
        }
    } else if accepted(&theirs.value) == Some(true) {
        let opened = pairings::open_mutual(&pairings::Mutual {
            from_listing_id: session.value.listing_id.clone(),
            to_listing_id: their_listing,
            origin: Origin::Round,
        })?;
        let ids = [candidate_id(&theirs.id), candidate_id(&session.id)];
        for (session, candidate_id) in [&mut session, &mut theirs].into_iter().zip(ids) {
            end_one(call, session, "confirm", State::Paired)?;
            decide::tell(session, &candidate_id, &opened)?;
        }
    } else {
        save(call, &mut session)?;
    }
    shown(call, &session)
}

/// Ends what was not confirmed in time.
pub(crate) fn end(call: &Call, input: &SessionId) -> Result<(), MatchingError> {
    let waits = |session: &Stored<Session>| session.value.state == State::Proposed;
    if let Some(mut session) = SESSIONS.get(&input.session_id)?.filter(waits) {
        end_one(call, &mut session, "end_round", State::Unpaired)?;
    }
    Ok(())
}

fn end_one(
    call: &Call,
    session: &mut Stored<Session>,
    action: &str,
    to: State,
) -> Result<(), MatchingError> {
    session.value.state = SESSION.step_to(&session.id, session.value.state, action, to)?;
    session.value.reason = Some(Reason::Round);
    leave_book(&session.value.listing_id, &session.id)?;
    timers::cancel(&format!("end/{}", session.id))?;
    Ok(save(call, session)?)
}

pub(crate) fn result(call: &Call, input: &SessionId) -> Result<Answer<ResultView>, MatchingError> {
    let session = own(call, &input.session_id)?;
    if session.value.state == State::Collecting {
        return Err(MatchingError::RoundNotRun { session_id: session.id });
    }
    shown(call, &session)
}

fn shown(call: &Call, session: &Stored<Session>) -> Result<Answer<ResultView>, MatchingError> {
    let outcome = session.value.outcome.clone();
    let partner = outcome.as_ref().and_then(|outcome| outcome.partner.clone());
    let rank_achieved = partner.as_ref().map(|partner| partner.rank);
    let partner = match partner {
        Some(partner) => partner_view(call, session, partner)?,
        None => None,
    };
    let view = ResultView {
        session_id: session.id.clone(),
        state: session.value.state,
        partner,
        rank_achieved,
        stable: outcome.as_ref().is_none_or(|outcome| outcome.stable),
        blocking_pairs: outcome.as_ref().map_or(0, |outcome| outcome.blocking_pairs),
        participants: outcome.map_or(0, |outcome| outcome.participants),
    };
    let next = match session.value.state {
        State::Proposed => Next::call(crate::types::CAPABILITY)
            .field("action", "confirm")
            .field("session_id", session.id.as_str())
            .ask("accept", "Do you want to meet whom the round has found?"),
        State::Closed | State::Expired => get(session.id.as_str()),
        _ => list_candidates(session.id.as_str()),
    };
    Ok(Answer::new(view).next(next))
}

fn partner_view(
    call: &Call,
    session: &Stored<Session>,
    partner: Partner,
) -> Result<Option<CandidateView>, MatchingError> {
    let Some(profile) = listings::profile(&partner.listing_id)? else { return Ok(None) };
    let hidden = relations::hidden(call.owner_id(), [profile.owner_id.as_str()])?;
    if hidden.contains(&profile.owner_id) {
        return Ok(None);
    }
    let fit = partner.fit;
    let fit = Fit {
        score: fit.score,
        mine: fit.mine,
        theirs: fit.theirs,
        reasons: fit.reasons,
        gaps: fit.gaps,
    };
    let id = candidate_id(&partner.session_id);
    Ok(Some(CandidateView::of_round(id, &session.id, profile, fit)))
}
