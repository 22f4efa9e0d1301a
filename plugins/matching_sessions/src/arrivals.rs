//! Updates sessions when listings are published or changed, and notifies their owners.

use crate::queue::{self, Search, cooling, is_in_cooldown};
use crate::{batch, departures, documents::*, pool, score::*, session, states::*, types::*};
use people_kit::listings::{self, Profile};
use people_kit::{organisations, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of sessions that one call reads.
const SESSIONS_AT_ONCE: u32 = 100;

/// A listing, and a cursor if the work continues from an earlier call.
#[input]
pub(crate) struct Arrival {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) listing_id: String,
    pub(crate) news: News,
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) cursor: Option<String>,
}

/// The cause of matching a listing with sessions again.
#[choice]
pub(crate) enum News {
    Published,
    Resumed,
    /// A compared field was edited: people who passed on the listing get it again.
    Edited,
}

/// The fields of a listing that decide with whom it is matched, and to whom it is shown.
const COMPARED: [&str; 6] =
    ["attributes", "criteria", "place", "remote", "compensation", "visibility"];

/// The part of a listing's event that is read.
#[input]
pub(crate) struct ListingChange {
    pub(crate) listing_id: String,
    /// The names of the fields that an update has changed.
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

impl News {
    /// Returns the news of an event; `None` if it is irrelevant for matching.
    pub(crate) fn of(event: &Happened<ListingChange>) -> Option<Self> {
        match event.event_type.as_str() {
            "listing.published" => Some(Self::Published),
            "listing.resumed" => Some(Self::Resumed),
            _ => {
                let compared = |name: &String| COMPARED.contains(&name.as_str());
                event.data.changed.iter().any(compared).then_some(Self::Edited)
            }
        }
    }
}

/// Adds a listing that is new or was changed to the sessions that may want it.
pub(crate) fn match_listing(call: &Call, arrival: Arrival, action: &'static str) -> Result<()> {
    let other = listings::profiles_for_matching([arrival.listing_id.as_str()])?.pop();
    let Some(other) = other.filter(Profile::is_active) else { return Ok(()) };
    if arrival.cursor.is_none() {
        recheck(call, &other)?;
    }
    let searching = field("state").one_of(SEARCHING);
    let filter = field("watch[]").one_of(pool::keys_of(&other)).and(searching);
    let query = Query::new().filter(filter).limit(SESSIONS_AT_ONCE);
    let page = SESSIONS.find(query.cursor(arrival.cursor.clone()))?;
    let (sessions, next) = page.into_parts();
    add_to_sessions(call, &other, sessions, arrival.news, action)?;
    if next.is_some() {
        let more = Arrival { cursor: next, ..arrival };
        let name = format!("arrive/{}/{}", other.owner_id, more.listing_id);
        timers::set(&name, call.now(), "arrive", &more)?;
    }
    Ok(())
}

/// Scores a listing again in the batches that contain it. Where it no longer fits, it is removed if
/// it is undecided.
fn recheck(call: &Call, other: &Profile) -> Result<()> {
    let states = [Candidacy::New, Candidacy::Interested, Candidacy::Later];
    let shown = field("listing_id").eq(&other.listing_id).and(field("state").one_of(states));
    let page = CANDIDATES.find(Query::new().filter(shown).limit(SESSIONS_AT_ONCE))?;
    let shown: Vec<_> = page.into_documents().collect();
    let sessions =
        SESSIONS.get_many(shown.iter().map(|candidate| candidate.value.session_id.as_str()))?;
    let open = sessions.into_iter().flatten().filter(|session| session.value.state.is_open());
    let assessed = assess(call, other, open.collect())?.into_iter();
    let mut fits: BTreeMap<String, Assessment> =
        assessed.map(|assessment| (assessment.0.id.clone(), assessment)).collect();
    for mut candidate in shown {
        match fits.remove(&candidate.value.session_id) {
            Some((_, Some(fit))) => {
                candidate.value.fit = fit;
                CANDIDATES.save(&mut candidate)?;
            }
            Some((session, None)) if candidate.value.state == Candidacy::New => {
                departures::make_unavailable(call, &mut candidate)?;
                schedule_next_batch(call, &session)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a listing to those of the sessions that it fits.
fn add_to_sessions(
    call: &Call,
    other: &Profile,
    sessions: Vec<Stored<Session>>,
    news: News,
    action: &'static str,
) -> Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    let known = field("session_id").one_of(&ids).and(field("listing_id").eq(&other.listing_id));
    let known = CANDIDATES.find(Query::new().filter(known).limit(SESSIONS_AT_ONCE))?;
    let known = known.into_documents();
    let mut known: BTreeMap<String, Stored<Candidate>> =
        known.map(|candidate| (candidate.value.session_id.clone(), candidate)).collect();
    let queued_in: BTreeSet<String> = match news {
        News::Published => BTreeSet::new(),
        News::Resumed | News::Edited => {
            let queues = QUEUES.get_many(ids.iter().copied())?.into_iter().flatten();
            let queued = queues.filter(|queue| queue.value.waiting.contains_key(&other.listing_id));
            queued.map(|queue| queue.id).collect()
        }
    };
    let passed = passed(call, other, &sessions)?;
    for (mut session, fit) in assess(call, other, sessions)? {
        let Some(fit) = fit else { continue };
        let before = known.remove(&session.id);
        let can_return = |candidate: &Stored<Candidate>| {
            matches!(candidate.value.state, Candidacy::Passed | Candidacy::Unavailable)
        };
        let is_in_cooldown = passed.contains(&session.value.listing_id);
        if !before.as_ref().is_none_or(can_return) || (is_in_cooldown && news != News::Edited) {
            continue;
        }
        if is_in_cooldown {
            OPINIONS.delete(&opinion(&session.value.listing_id, &other.listing_id), Expect::Any)?;
        }
        if queued_in.contains(&session.id) {
            session.value.come.insert(other.listing_id.clone(), Queued::new(other, &fit));
            session.save()?;
        } else if before.is_some() || session.value.found < MOST_CANDIDATES {
            add_candidate(call, &mut session, (before, other, fit), action)?;
        }
    }
    Ok(())
}

/// Returns the ids of the sessions' listings whose person has recently passed on the listing
/// `other`.
fn passed(call: &Call, other: &Profile, sessions: &[Stored<Session>]) -> Result<BTreeSet<String>> {
    let listing_ids: BTreeSet<&str> =
        sessions.iter().map(|session| session.value.listing_id.as_str()).collect();
    let ids = listing_ids.iter().map(|mine| opinion(mine, &other.listing_id));
    let opinions = OPINIONS.get_many(ids)?.into_iter().zip(listing_ids);
    let passed = opinions.filter(|(opinion, _)| is_in_cooldown(call, opinion.as_ref()));
    Ok(passed.map(|(_, mine)| mine.to_owned()).collect())
}

/// A session, and how well a listing fits it; `None` if it does not fit or may not be shown.
type Assessment = (Stored<Session>, Option<Fit>);

/// Computes how well a listing fits each of these sessions.
fn assess(call: &Call, other: &Profile, sessions: Vec<Stored<Session>>) -> Result<Vec<Assessment>> {
    let listing_ids: BTreeSet<&str> =
        sessions.iter().map(|session| session.value.listing_id.as_str()).collect();
    let cooling = cooling(&other.listing_id, listing_ids.iter().copied())?;
    let mine = session::by_id(listings::profiles_for_matching(listing_ids)?);
    let owners = sessions.iter().map(|session| session.value.owner_id.as_str());
    let hidden = relations::hidden(Some(&other.owner_id), owners)?;
    let of = (other.owner_id.as_str(), other.org_id.as_deref());
    let assess = |session: Stored<Session>| {
        let mine = mine.get(&session.value.listing_id);
        let viewer = session.value.owner_id.as_str();
        let is_hidden =
            hidden.contains(viewer) && !organisations::is_answered_by_others(viewer, of)?;
        let is_eligible =
            queue::is_shown(other) && !is_hidden && !cooling.contains(&session.value.listing_id);
        let fit = mine.filter(|mine| is_eligible && mine.is_of_age()).and_then(|mine| {
            fit(mine, session::criteria_of(&session.value, mine), other, call.now())
        });
        Ok((session, fit))
    };
    sessions.into_iter().map(assess).collect()
}

/// Queues a new candidate while others are undecided; otherwise shows it at once.
fn add_candidate(
    call: &Call,
    session: &mut Stored<Session>,
    (before, other, fit): (Option<Stored<Candidate>>, &Profile, Fit),
    action: &'static str,
) -> Result<()> {
    let value = &mut session.value;
    value.found += u64::from(before.is_none());
    value.news.new += 1;
    value.news.top = value.news.top.max(fit.score);
    if value.state == State::Exhausted {
        value.state = SESSION.step_to(&session.id, State::Exhausted, action, State::Ready)?;
        batch::show_one(call, session, before, other, fit)?;
        batch::set_check(call, session)?;
    } else {
        value.come.insert(other.listing_id.clone(), Queued::new(other, &fit));
        if value.come.len() >= MOST_ARRIVED {
            // The session will search all new listings when it notifies its person.
            value.watch.clear();
        }
    }
    notify(call, session)
}

/// Notifies the person of new candidates, or sets a timer for it if they were notified a short time
/// ago. Saves the session.
pub(crate) fn notify(call: &Call, session: &mut Stored<Session>) -> Result<()> {
    let told_at = session.value.news.told_at;
    let pending = session.value.news.new + session.value.news.removed;
    if pending > 0 && told_at + NEWS_INTERVAL > call.now() {
        session::set_timer("tell", session, told_at + NEWS_INTERVAL)?;
        return Ok(session.save()?);
    }
    if session.value.watch.is_empty()
        && let Some(mine) =
            listings::profiles_for_matching([session.value.listing_id.as_str()])?.pop()
    {
        Search::open(call, session, &mine)?.close()?;
    }
    let PendingNews { new, removed, top, .. } = session.value.news;
    if (new, removed) == (0, 0) {
        return Ok(session.save()?);
    }
    session.value.news = PendingNews { told_at: call.now(), ..PendingNews::default() };
    session.save()?;
    let facts = Facts {
        new_count: Some(new),
        top_score: (new > 0).then_some((top * 1000.0).round() / 1000.0),
        removed_count: Some(removed),
        ..Facts::default()
    };
    let next = read("candidates", &session.id);
    session::notify(session, UPDATED, "There are new candidates in your search.", next, facts)
}

/// Continues the search of a session whose first search found nobody, or whose batch has no
/// candidates left.
pub(crate) fn continue_search(call: &Call, input: &SessionId) -> Result<()> {
    let Some(mut session) = session::find_searching(&input.session_id)? else { return Ok(()) };
    let mine = listings::profiles_for_matching([session.value.listing_id.as_str()])?.pop();
    let Some(mine) = mine else { return Ok(()) };
    let (had_any, before) = (batch::is_undecided(&session.id)?, session.value.state);
    batch::advance(call, &mut session, &mine)?;
    if !had_any && session.value.state == State::Ready {
        let new = batch::in_states(&session.id, &[Candidacy::New])?;
        let (count, news) = (new.len() as u32, &mut session.value.news);
        // Candidates from the queue may already be counted as news.
        news.new = if before == State::Ready { news.new.max(count) } else { news.new + count };
        news.top = new.first().map_or(news.top, |best| news.top.max(best.value.fit.score));
    }
    notify(call, &mut session)
}

/// Sets a timer for the next batch if no candidates of the current one are left.
pub(crate) fn schedule_next_batch(call: &Call, session: &Stored<Session>) -> Result<()> {
    if session.value.state == State::Ready && !batch::is_undecided(&session.id)? {
        session::set_timer("look", session, call.now())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compared_fields_are_news() {
        let news = |event_type: &str, changed: &[&str]| {
            let changed = changed.iter().map(ToString::to_string).collect();
            News::of(&Happened {
                id: None,
                event_type: event_type.into(),
                subject: String::new(),
                data: ListingChange { listing_id: String::new(), changed },
            })
        };
        assert_eq!(news("listing.published", &[]), Some(News::Published));
        assert_eq!(news("listing.resumed", &[]), Some(News::Resumed));
        assert_eq!(news("listing.updated", &["title", "place"]), Some(News::Edited));
        assert_eq!(news("listing.updated", &["title", "description", "valid_through"]), None);
    }
}
