//! The person's decisions on candidates, and the connection when both are interested.

use crate::session::{self, listing};
use crate::{batch, documents::*, states::*, types::*, views::*};
use people_kit::listings::{self, Profile};
use people_kit::organisations;
use people_kit::pairings::{self, Opened, Origin};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

pub(crate) fn list(call: &Call, input: Candidates) -> Result<Items<CandidateView>> {
    let session = Session::load_own(call, &input.session_id)?;
    if session.value.mode == Mode::Round {
        return crate::rounds::candidates(call, &session);
    }
    let states = input.state.unwrap_or_else(|| Candidacy::ALL.to_vec());
    let query = batch::ordered(&session.id, &states);
    let page = CANDIDATES.find(query.page(input.page))?;
    let shown = shown(call, &session, page.hits.iter().map(|hit| &hit.document.value))?;
    let open = SEARCHING.contains(&session.value.state);
    let mine = match page.hits.is_empty() {
        true => None,
        false => listings::profile(&session.value.listing_id)?,
    };
    Ok(Items::of(page, |candidate| {
        let listing = shown.get(&candidate.value.listing_id).cloned();
        CandidateView::of(&candidate, open, listing, mine.as_ref())
    }))
}

/// Returns the listings of candidates that may still be shown to the caller.
fn shown<'a>(
    call: &Call,
    session: &Stored<Session>,
    candidates: impl Iterator<Item = &'a Candidate> + Clone,
) -> Result<BTreeMap<String, Profile>> {
    let ids = candidates.map(|candidate| candidate.listing_id.as_str());
    let mut profiles = listings::profiles_for_matching(ids)?;
    session::retain_of_age(&session.value, &mut profiles)?;
    profiles.retain(|profile| profile.is_active() && !profile.is_withheld());
    let visible = organisations::retain_visible(call.require_owner()?, profiles)?;
    Ok(session::by_id(visible))
}

pub(crate) fn decide(call: &Call, input: Decide) -> Result<Answer<CandidateView>> {
    let mut session = Session::load_own(call, &input.session_id)?;
    SESSION.step_to(&session.id, session.value.state, "decide", session.value.state)?;
    let mine = listing(&session.value)?;
    let not_found = || MatchingError::CandidateNotFound { session_id: session.id.clone() };
    let of_session = |candidate: &Stored<Candidate>| candidate.value.session_id == session.id;
    let candidate = CANDIDATES.get(&input.candidate_id)?.filter(of_session);
    let mut candidate = candidate.ok_or_else(not_found)?;
    let shown =
        shown(call, &session, [&candidate.value].into_iter())?.remove(&candidate.value.listing_id);
    let Some(other) = shown else {
        return Err(MatchingError::RecipientNotAccepting { session_id: session.id });
    };
    candidate.value.reason_code = input.reason_code;
    let to = match input.decision {
        Decision::Interested => Candidacy::Interested,
        Decision::Pass => Candidacy::Passed,
        Decision::Later => Candidacy::Later,
    };
    batch::transition(call, &mut candidate, "decide", to)?;
    store_opinion(call, &session, &candidate, to)?;
    let opened = match to {
        Candidacy::Interested => connect_if_mutual(call, &session, &mut candidate)?,
        _ => None,
    };
    batch::advance(call, &mut session, &mine)?;
    session::save(call, &mut session)?;
    let mut view = CandidateView::of(&candidate, true, Some(other), Some(&mine));
    let next = match opened {
        Some(opened) => {
            let next = messages(&opened);
            (view.pairing_id, view.thread_id) = (Some(opened.pairing_id), Some(opened.thread_id));
            next
        }
        None => read("candidates", &session.id),
    };
    Ok(Answer::new(view).next(next))
}

/// Stores the person's opinion of the other listing, for this and for later sessions; `Later`
/// deletes it.
fn store_opinion(
    call: &Call,
    session: &Stored<Session>,
    candidate: &Stored<Candidate>,
    state: Candidacy,
) -> Result<()> {
    let id = opinion(&session.value.listing_id, &candidate.value.listing_id);
    if state == Candidacy::Later {
        return Ok(OPINIONS.delete(&id, Expect::Any)?);
    }
    let opinion = Opinion {
        for_owner: session.value.owner_id.clone(),
        owner_id: candidate.value.owner_id.clone(),
        session_id: session.id.clone(),
        candidate_id: candidate.id.clone(),
        interested: state == Candidacy::Interested,
        at: call.now(),
    };
    OPINIONS.put(&id, &opinion, Expect::Any)?;
    Ok(())
}

/// Connects the two people if the other one is interested too, in a session that is looking for
/// candidates. Otherwise it returns `None`, and nobody is notified.
fn connect_if_mutual(
    call: &Call,
    session: &Stored<Session>,
    candidate: &mut Stored<Candidate>,
) -> Result<Option<Opened>> {
    let (mine, theirs) = (&session.value.listing_id, &candidate.value.listing_id);
    let their_opinion =
        OPINIONS.get(&opinion(theirs, mine))?.filter(|opinion| opinion.value.interested);
    let Some(their_opinion) = their_opinion else { return Ok(None) };
    let is_theirs = |session: &Stored<Session>| session.value.owner_id == candidate.value.owner_id;
    let their_session = session::find_searching(&their_opinion.value.session_id)?.filter(is_theirs);
    let their_candidate = CANDIDATES.get(&their_opinion.value.candidate_id)?;
    let their_candidate =
        their_candidate.filter(|candidate| candidate.value.state == Candidacy::Interested);
    let (Some(their_session), Some(mut their_candidate)) = (their_session, their_candidate) else {
        return Ok(None);
    };
    let Some(opened) = connect(mine, theirs, Origin::MutualInterest)? else { return Ok(None) };
    for (session, candidate) in [(session, candidate), (&their_session, &mut their_candidate)] {
        candidate.value.pairing_id = Some(opened.pairing_id.clone());
        batch::transition(call, candidate, "decide", Candidacy::Mutual)?;
        notify(session, &candidate.id, &opened)?;
    }
    Ok(Some(opened))
}

/// The refusals that neither person may learn of: a block, or a recent decline.
const CONFIDENTIAL: [&str; 2] = ["recipient_not_accepting", "cooldown_active"];

/// Connects the people of two listings; returns `None` if there is an obstacle that neither may
/// learn of.
pub(crate) fn connect(one: &str, other: &str, origin: Origin) -> Result<Option<Opened>> {
    let (from_listing_id, to_listing_id) = (one.to_owned(), other.to_owned());
    let listings = pairings::Mutual { from_listing_id, to_listing_id, origin };
    match pairings::open_mutual(&listings) {
        Ok(opened) => Ok(Some(opened)),
        Err(refusal) if CONFIDENTIAL.contains(&refusal.code.as_str()) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

pub(crate) fn notify(session: &Stored<Session>, candidate_id: &str, opened: &Opened) -> Result<()> {
    let facts = Facts {
        candidate_id: Some(candidate_id.to_owned()),
        pairing_id: Some(opened.pairing_id.clone()),
        thread_id: Some(opened.thread_id.clone()),
        ..Facts::default()
    };
    session::notify(session, MUTUAL, "Both of you want to meet.", messages(opened), facts)
}

/// Returns the next step that reads their conversation.
pub(crate) fn messages(opened: &Opened) -> Next {
    Next::action("conversations", "messages").field("thread_id", opened.thread_id.as_str())
}
