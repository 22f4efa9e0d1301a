//! What becomes of sessions when listings come, change and go, and when people part.

use crate::{
    batch::{add, advance, cooling, in_states},
    kept::{BOOKS, CANDIDATES, Candidate, News, SESSIONS, Session},
    life::{CANDIDATE, Candidacy, LOOKING, SESSION, State},
    pool::watched,
    score::fit,
    session::{asks, end, of, resource, subject},
    types::{
        MOST_CANDIDATES, MatchingError, QUIET, Reason, SessionId, UPDATED, Updated, candidates,
    },
};
use common::{
    event::Data,
    listings::{self, Profile, Visibility},
    relations,
};
use portolan_sdk::{documents::any_of, events::Audience, prelude::*, timers};
use std::collections::BTreeMap;

/// Sessions that one call looks at.
const SESSIONS_AT_ONCE: u32 = 100;
/// Candidates that one call ends.
const CANDIDATES_AT_ONCE: u32 = 200;

/// A listing to go on with, from a cursor.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Arrival {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) listing_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) cursor: Option<String>,
}

/// What is read of a listing's event.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct OfListing {
    pub(crate) listing_id: String,
}

/// What is read of `relationship.blocked`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Parted {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// Brings a listing that is new, or says something new, to the sessions it may be of interest for.
pub(crate) fn arrive(
    call: &Call,
    arrival: Arrival,
    action: &'static str,
) -> Result<(), MatchingError> {
    let Some(other) = listings::profile(&arrival.listing_id)? else { return Ok(()) };
    if !other.is_active() {
        return Ok(());
    }
    let (first, keys) = (arrival.cursor.is_none(), watched(&other));
    let looking = field("state").one_of(LOOKING);
    let filter = field("watch[]").one_of(&keys).and(looking);
    let query = Query::new().filter(filter).limit(SESSIONS_AT_ONCE).cursor(arrival.cursor);
    let page = SESSIONS.find(query)?;
    let sessions: Vec<_> = page.hits.into_iter().map(|hit| hit.document).collect();
    bring(call, &other, sessions, action)?;
    if first {
        bring(call, &other, holding(&other, &keys)?, action)?;
    }
    if page.next.is_some() {
        let more = Arrival { listing_id: other.listing_id, cursor: page.next };
        timers::set(&format!("arrive/{}", more.listing_id), call.now(), "arrive", &more)?;
    }
    Ok(())
}

/// Sessions that have the listing among their candidates, and would not find what it has become.
fn holding(other: &Profile, keys: &[String]) -> Result<Vec<Stored<Session>>, HostError> {
    let undecided = field("state").one_of([Candidacy::New, Candidacy::Waiting]);
    let filter = field("listing_id").eq(&other.listing_id).and(undecided);
    let page = CANDIDATES.find(Query::new().filter(filter).limit(SESSIONS_AT_ONCE))?;
    let ids = page.hits.into_iter().map(|hit| hit.document.value.session_id);
    let sessions = SESSIONS.get_many(ids)?.into_iter().flatten();
    let left = |it: &Stored<Session>| {
        it.value.state.is_open() && !it.value.watch.iter().any(|key| keys.contains(key))
    };
    Ok(sessions.filter(left).collect())
}

/// Brings a listing to these sessions, and takes it out of those that it no longer fits.
fn bring(
    call: &Call,
    other: &Profile,
    sessions: Vec<Stored<Session>>,
    action: &'static str,
) -> Result<(), MatchingError> {
    if sessions.is_empty() {
        return Ok(());
    }
    for (mut session, existing, fit) in judged(call, other, sessions)? {
        let candidate = match (existing, fit) {
            (Some(mut known), None) => {
                if matches!(known.value.state, Candidacy::Waiting | Candidacy::New) {
                    leave(call, &mut known)?;
                    go_on(call, &session)?;
                }
                continue;
            }
            (None, None) => continue,
            (Some(mut known), Some(fit)) => {
                let before = known.value.state;
                known.value.fit = fit.into();
                if matches!(before, Candidacy::Passed | Candidacy::Unavailable) {
                    let at = &known.value.session_id;
                    CANDIDATE.step_to(at, before, "on_listing_active", Candidacy::Waiting)?;
                    known.value.state = Candidacy::Waiting;
                }
                CANDIDATES.save(&mut known)?;
                if known.value.state == before {
                    continue;
                }
                known
            }
            (None, Some(_)) if session.value.found >= MOST_CANDIDATES => continue,
            (None, Some(fit)) => add(call, &mut session, other, fit)?,
        };
        settle(call, &mut session, candidate, action)?;
    }
    Ok(())
}

type Judged = (Stored<Session>, Option<Stored<Candidate>>, Option<crate::score::Fit>);

/// For each session whether the listing is a candidate already, and how well it fits, if it does and
/// may be shown.
fn judged(
    call: &Call,
    other: &Profile,
    sessions: Vec<Stored<Session>>,
) -> Result<Vec<Judged>, MatchingError> {
    let ids: Vec<&str> = sessions.iter().map(|it| it.id.as_str()).collect();
    let existing = field("session_id").one_of(ids).and(field("listing_id").eq(&other.listing_id));
    let existing = CANDIDATES.find(Query::new().filter(existing).limit(SESSIONS_AT_ONCE))?;
    let mut existing: BTreeMap<String, Stored<Candidate>> = existing
        .hits
        .into_iter()
        .map(|hit| (hit.document.value.session_id.clone(), hit.document))
        .collect();
    let mut listing_ids: Vec<&str> =
        sessions.iter().map(|it| it.value.listing_id.as_str()).collect();
    listing_ids.sort_unstable();
    listing_ids.dedup();
    let cooling = cooling(&other.listing_id, listing_ids.iter().copied())?;
    let mine: BTreeMap<String, Profile> = listings::profiles(listing_ids)?
        .into_iter()
        .map(|profile| (profile.listing_id.clone(), profile))
        .collect();
    let owners = sessions.iter().map(|it| it.value.owner_id.as_str());
    let hidden = relations::hidden(Some(&other.owner_id), owners)?;
    let shows = match other.visibility {
        Visibility::Public => true,
        Visibility::Network => other.min_age > 0,
        Visibility::Unlisted => false,
    };
    let judged = sessions.into_iter().map(|session| {
        let mine = mine.get(&session.value.listing_id);
        let may = shows
            && !hidden.contains(&session.value.owner_id)
            && !cooling.contains(&session.value.listing_id);
        let fit = mine
            .filter(|_| may)
            .and_then(|mine| fit(mine, asks(&session.value, mine), other, call.now()));
        let existing = existing.remove(&session.id);
        (session, existing, fit)
    });
    Ok(judged.collect())
}

/// A new candidate waits while others are to be decided on, and otherwise comes at once.
fn settle(
    call: &Call,
    session: &mut Stored<Session>,
    mut candidate: Stored<Candidate>,
    action: &'static str,
) -> Result<(), MatchingError> {
    if session.value.state == State::Exhausted {
        candidate.value.state = Candidacy::New;
        candidate.value.at = call.now();
        CANDIDATES.save(&mut candidate)?;
        session.value.state =
            SESSION.step_to(&session.id, State::Exhausted, action, State::Ready)?;
    }
    session.value.news.new += 1;
    session.value.news.top = session.value.news.top.max(candidate.value.fit.score);
    tell(call, session)
}

/// Tells the person what is new, or sets a time to do so if they were told a moment ago. Saves the
/// session.
pub(crate) fn tell(call: &Call, session: &mut Stored<Session>) -> Result<(), MatchingError> {
    let News { new, removed, top, told_at } = session.value.news.clone();
    if (new, removed) == (0, 0) {
        return Ok(SESSIONS.save(session)?);
    }
    if told_at + QUIET > call.now() {
        timers::set(&format!("tell/{}", session.id), told_at + QUIET, "tell", &of(&session.id))?;
        return Ok(SESSIONS.save(session)?);
    }
    session.value.news = News { told_at: call.now(), ..News::default() };
    SESSIONS.save(session)?;
    let more = Updated {
        session_id: session.id.clone(),
        new_count: new,
        top_score: (new > 0).then_some((top * 1000.0).round() / 1000.0),
        removed_count: removed,
    };
    let data = Data::by_nobody(resource(session), "There are news in your search.", more);
    let data = data.next(candidates(session.id.as_str()));
    let audience = Audience::Owner(session.value.owner_id.clone());
    Ok(UPDATED.publish(audience, subject(&session.id), &data)?)
}

/// Goes on looking for a session that has found nobody among the first, or of whose batch nobody is
/// left.
pub(crate) fn look(call: &Call, input: &SessionId) -> Result<(), MatchingError> {
    let looks = |it: &Stored<Session>| LOOKING.contains(&it.value.state);
    let Some(mut session) = SESSIONS.get(&input.session_id)?.filter(looks) else { return Ok(()) };
    let Some(mine) = listings::profile(&session.value.listing_id)? else { return Ok(()) };
    let (had, before) = (undecided(&session.id)?, session.value.state);
    advance(call, &mut session, &mine)?;
    if had == 0 && session.value.state == State::Ready {
        let new = in_states(&session.id, &[Candidacy::New])?;
        let (count, news) = (new.len() as u32, &mut session.value.news);
        // Those who waited may be among the news already.
        news.new = if before == State::Ready { news.new.max(count) } else { news.new + count };
        news.top = new.first().map_or(news.top, |best| news.top.max(best.value.fit.score));
    }
    tell(call, &mut session)
}

/// How many of its candidates a person has yet to decide on.
fn undecided(session_id: &str) -> Result<u64, HostError> {
    let new = field("session_id").eq(session_id).and(field("state").eq(Candidacy::New));
    CANDIDATES.count(new)
}

/// Sees to it that the next ones come to a session of whose batch nobody is left.
fn go_on(call: &Call, session: &Stored<Session>) -> Result<(), MatchingError> {
    if session.value.state == State::Ready && undecided(&session.id)? == 0 {
        timers::set(&format!("look/{}", session.id), call.now(), "look", &of(&session.id))?;
    }
    Ok(())
}

/// Ends what a listing took part in: its own sessions, and its place in those of others.
pub(crate) fn over(call: &Call, listing_id: &str) -> Result<(), MatchingError> {
    // The event may be late, and the listing back.
    if listings::profile(listing_id)?.is_some_and(|listing| listing.is_active()) {
        return Ok(());
    }
    let book = BOOKS.get(listing_id)?;
    for session_id in book.into_iter().flat_map(|book| book.value.open) {
        if let Some(mut session) = SESSIONS.get(&session_id)?.filter(|it| it.value.state.is_open())
        {
            end(call, &mut session, "on_listing_ended", Reason::ListingInactive)?;
        }
    }
    let filter = field("listing_id").eq(listing_id).and(field("state").one_of(REACHABLE));
    let page = CANDIDATES.find(Query::new().filter(filter).limit(CANDIDATES_AT_ONCE))?;
    for hit in page.hits {
        let mut candidate = hit.document;
        let was_shown = candidate.value.state != Candidacy::Waiting;
        leave(call, &mut candidate)?;
        let session = SESSIONS.get(&candidate.value.session_id)?;
        let looks = |it: &Stored<Session>| LOOKING.contains(&it.value.state) && was_shown;
        if let Some(mut session) = session.filter(looks) {
            session.value.news.removed += 1;
            tell(call, &mut session)?;
            go_on(call, &session)?;
        }
    }
    if page.next.is_some() {
        let more = Arrival { listing_id: listing_id.to_owned(), cursor: None };
        timers::set(&format!("over/{listing_id}"), call.now(), "over", &more)?;
    }
    Ok(())
}

const REACHABLE: [Candidacy; 5] = [
    Candidacy::Waiting,
    Candidacy::New,
    Candidacy::Interested,
    Candidacy::Passed,
    Candidacy::Later,
];

/// Takes two people out of each other's sessions, without a word to either.
pub(crate) fn part(call: &Call, parted: &Parted) -> Result<(), MatchingError> {
    let pair = |one: &str, other: &str| field("for_owner").eq(one).and(field("owner_id").eq(other));
    let (one, other) = (&parted.blocker_id, &parted.blocked_id);
    let both = any_of([pair(one, other), pair(other, one)]);
    let filter = both.and(field("state").one_of(REACHABLE));
    for hit in CANDIDATES.find(Query::new().filter(filter).limit(CANDIDATES_AT_ONCE))?.hits {
        let mut candidate = hit.document;
        leave(call, &mut candidate)?;
        if let Some(session) = SESSIONS.get(&candidate.value.session_id)? {
            go_on(call, &session)?;
        }
    }
    Ok(())
}

fn leave(call: &Call, candidate: &mut Stored<Candidate>) -> Result<(), MatchingError> {
    crate::batch::turn(call, candidate, "on_listing_ended", Candidacy::Unavailable)
}
