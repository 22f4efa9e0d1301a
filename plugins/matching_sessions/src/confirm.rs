//! The confirmation of a round's result by both sides.

use crate::{decide, documents::*, rounds::candidate_id, session, states::*, types::*, views::*};
use people_kit::listings::{self, Profile};
use people_kit::organisations;
use people_kit::pairings::{Opened, Origin};
use portolan_sdk::prelude::*;

/// Records whether the person accepts a partner that the round has found. Neither learns that the
/// other has accepted before both have. If one declines, the other is only told that somebody
/// cannot be reached any more.
pub(crate) fn confirm(call: &Call, input: Confirm) -> Result<Answer<ResultView>> {
    let mut mine = Session::load_own(call, &input.session_id)?;
    SESSION.step_to(&mine.id, mine.value.state, "confirm", State::Proposed)?;
    session::listing(&mine.value)?;
    let partner = chosen_partner(&mine, input.candidate_id.as_deref())?;
    let theirs = SESSIONS.get(&partner.session_id)?;
    let Some(mut theirs) = theirs.filter(|theirs| is_waiting_for(theirs, &mine.id)) else {
        set_partner_state(&mut mine, &partner.session_id, Candidacy::Unavailable, None);
        conclude(call, &mut mine, "confirm")?;
        return shown(call, &mine);
    };
    if !input.accept {
        set_partner_state(&mut mine, &theirs.id, Candidacy::Passed, None);
        conclude(call, &mut mine, "confirm")?;
        remove_partner(call, &mut theirs, &mine.id, "confirm")?;
        return shown(call, &mine);
    }
    let is_theirs = |listing: &Profile| listing.owner_id == theirs.value.owner_id;
    if !visible(call, &mine.value, &partner)?.as_ref().is_some_and(is_theirs) {
        return Err(MatchingError::RecipientNotAccepting { session_id: mine.id });
    }
    set_partner_state(&mut mine, &theirs.id, Candidacy::Interested, None);
    if let Some(opened) = connect_if_mutual(call, &mut mine, &mut theirs)? {
        return Ok(shown(call, &mine)?.next(decide::messages(&opened)));
    }
    session::save(call, &mut mine)?;
    shown(call, &mine)
}

/// Returns the partner that is meant; by default the only one for whom an answer is still missing.
fn chosen_partner(session: &Stored<Session>, candidate: Option<&str>) -> Result<Partner> {
    let mut partners = partners(session).iter();
    if let Some(candidate) = candidate {
        let partner = partners.find(|partner| candidate_id(&partner.session_id) == candidate);
        let session_id = session.id.clone();
        return match partner {
            None => Err(MatchingError::CandidateNotFound { session_id }),
            Some(partner) if partner.is_waiting() => Ok(partner.clone()),
            Some(_) => Err(MatchingError::RecipientNotAccepting { session_id }),
        };
    }
    let waiting: Vec<&Partner> = partners.filter(|partner| partner.is_waiting()).collect();
    match waiting.as_slice() {
        [one] => Ok((*one).clone()),
        // The only partner is erased.
        [] => Err(MatchingError::RecipientNotAccepting { session_id: session.id.clone() }),
        _ => {
            let expected = "the candidate, because the round has found several";
            Err(Refusal::validation("/candidate_id", "required", expected).into())
        }
    }
}

/// Connects the two people if the other one has already accepted; returns `None` if they are not
/// connected.
fn connect_if_mutual(
    call: &Call,
    mine: &mut Stored<Session>,
    theirs: &mut Stored<Session>,
) -> Result<Option<Opened>> {
    let has_accepted =
        |partner: &Partner| partner.session_id == mine.id && partner.state == Candidacy::Interested;
    if !partners(theirs).iter().any(has_accepted) {
        return Ok(None);
    }
    let (my_listing, their_listing) = (&mine.value.listing_id, &theirs.value.listing_id);
    let Some(opened) = decide::connect(my_listing, their_listing, Origin::Round)? else {
        return Ok(None);
    };
    let ids = [mine.id.clone(), theirs.id.clone()];
    for (session, other) in [mine, theirs].into_iter().zip(ids.iter().rev()) {
        set_partner_state(session, other, Candidacy::Mutual, Some(&opened.pairing_id));
        conclude(call, session, "confirm")?;
        decide::notify(session, &candidate_id(other), &opened)?;
    }
    Ok(Some(opened))
}

pub(crate) fn end(call: &Call, input: &SessionId) -> Result<()> {
    let is_proposed = |session: &Stored<Session>| session.value.state == State::Proposed;
    if let Some(mut session) = SESSIONS.get(&input.session_id)?.filter(is_proposed) {
        let partners = session.value.outcome.iter_mut().flat_map(|outcome| &mut outcome.partners);
        partners
            .filter(|partner| partner.is_waiting())
            .for_each(|partner| partner.state = Candidacy::Unavailable);
        conclude(call, &mut session, "end_round")?;
    }
    Ok(())
}

/// Removes a session that is about to end from the sessions that wait for its confirmation.
pub(crate) fn leave_partners(
    call: &Call,
    session: &mut Stored<Session>,
    action: &str,
) -> Result<()> {
    let waiting = partners(session).iter().filter(|partner| partner.is_waiting());
    let waiting: Vec<String> = waiting.map(|partner| partner.session_id.clone()).collect();
    for id in waiting {
        if let Some(mut theirs) =
            SESSIONS.get(&id)?.filter(|theirs| is_waiting_for(theirs, &session.id))
        {
            remove_partner(call, &mut theirs, &session.id, action)?;
        }
        set_partner_state(session, &id, Candidacy::Unavailable, None);
    }
    Ok(())
}

fn partners(session: &Stored<Session>) -> &[Partner] {
    session.value.outcome.as_ref().map_or(&[], |outcome| &outcome.partners)
}

fn is_waiting_for(session: &Stored<Session>, other: &str) -> bool {
    session.value.state == State::Proposed
        && partners(session)
            .iter()
            .any(|partner| partner.session_id == other && partner.is_waiting())
}

fn set_partner_state(
    session: &mut Stored<Session>,
    other: &str,
    to: Candidacy,
    pairing_id: Option<&str>,
) {
    let partners = session.value.outcome.iter_mut().flat_map(|outcome| &mut outcome.partners);
    for partner in partners.filter(|partner| partner.session_id == other) {
        partner.state = to;
        partner.pairing_id = pairing_id.map(str::to_owned);
    }
}

/// Removes a partner from a session that waits for their confirmation, and notifies its person.
fn remove_partner(
    call: &Call,
    session: &mut Stored<Session>,
    other: &str,
    action: &str,
) -> Result<()> {
    set_partner_state(session, other, Candidacy::Unavailable, None);
    conclude(call, session, action)?;
    if session.value.state == State::Unpaired {
        return Ok(());
    }
    let summary = "Somebody whom the round has found cannot be reached any more.";
    let facts = Facts { new_count: Some(0), removed_count: Some(1), ..Facts::default() };
    session::notify(session, UPDATED, summary, read("result", &session.id), facts)
}

/// Ends a session if it waits for no confirmation any more, and saves it.
fn conclude(call: &Call, session: &mut Stored<Session>, action: &str) -> Result<()> {
    let to = if partners(session).iter().any(Partner::is_waiting) {
        State::Proposed
    } else if partners(session).iter().any(|partner| partner.state == Candidacy::Mutual) {
        State::Paired
    } else {
        State::Unpaired
    };
    session.step_to(&SESSION, action, to)?;
    if to != State::Proposed {
        session.value.reason = Some(Reason::Round);
        leave_book(session)?;
        timers::cancel(&session::timer("end_round", session))?;
    }
    session::save(call, session)?;
    if to != State::Unpaired {
        return Ok(());
    }
    let facts = Facts { reason: Some(Reason::Round), ..Facts::default() };
    session::notify(
        session,
        SESSION_CLOSED,
        session::CLOSED_SUMMARY,
        read("result", &session.id),
        facts,
    )
}

pub(crate) fn result(call: &Call, input: &SessionId) -> Result<Answer<ResultView>> {
    let session = Session::load_own(call, &input.session_id)?;
    if session.value.state == State::Collecting {
        return Err(MatchingError::RoundNotRun { session_id: session.id });
    }
    shown(call, &session)
}

fn shown(call: &Call, session: &Stored<Session>) -> Result<Answer<ResultView>> {
    let mine = match partners(session).is_empty() {
        true => None,
        false => listings::profile(&session.value.listing_id)?,
    };
    let view = |partner: &Partner| {
        let id = candidate_id(&partner.session_id);
        let view = visible(call, &session.value, partner)?.map(|shown| {
            let view = CandidateView::of_round(id, &session.id, shown, mine.as_ref(), &partner.fit);
            view.with_answer(partner.state, partner.pairing_id.clone())
        });
        Ok(PartnerView { partner: view, rank_achieved: partner.rank })
    };
    let views = partners(session).iter().map(view).collect::<Result<Vec<PartnerView>>>()?;
    let outcome = session.value.outcome.as_ref();
    let preferred = views.first();
    let view = ResultView {
        session_id: session.id.clone(),
        state: session.value.state,
        partner: preferred.and_then(|view| view.partner.clone()),
        rank_achieved: preferred.map(|view| view.rank_achieved),
        partners: views,
        stable: outcome.is_none_or(|outcome| outcome.stable),
        blocking_pairs: outcome.map_or(0, |outcome| outcome.blocking_pairs),
        participants: outcome.map_or(0, |outcome| outcome.participants),
    };
    Ok(Answer::new(view).next(next_step(session)))
}

fn next_step(session: &Stored<Session>) -> Next {
    let asked = partners(session).iter().find(|partner| partner.state == Candidacy::New);
    match (session.value.state, asked) {
        (State::Proposed, Some(partner)) => read("confirm", &session.id)
            .field("candidate_id", candidate_id(&partner.session_id))
            .ask("accept", "Do you want to meet whom the round has found?"),
        (State::Unpaired | State::Cancelled, _) => Next::action(CAPABILITY, "rounds"),
        _ => read("get", &session.id),
    }
}

/// Returns the listing of a partner, if it is visible to the caller.
fn visible(call: &Call, session: &Session, partner: &Partner) -> Result<Option<Profile>> {
    let mut profiles = listings::profiles_for_matching([partner.listing_id.as_str()])?;
    session::retain_of_age(session, &mut profiles)?;
    Ok(organisations::retain_visible(call.require_owner()?, profiles)?.pop())
}
