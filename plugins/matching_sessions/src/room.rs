//! Those who take part in a round, and who gets whom.

use crate::{
    kept::{Partner, SESSIONS, Session, tie},
    life::State,
    score::{Fit, fit},
    session::asks,
    stable::{Preferences, blocking_pairs, deferred_acceptance, greedy},
    types::{MOST_IN_ROUND, MatchingError},
};
use common::{
    listings::{self, Profile},
    relations,
};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// Those who take part and have not left.
pub(crate) fn participants(round_id: &str) -> Result<Vec<Stored<Session>>, HostError> {
    let filter = field("round_id").eq(round_id);
    let page = SESSIONS.find(Query::new().filter(filter).limit(MOST_IN_ROUND as u32))?;
    let sessions = page.hits.into_iter().map(|hit| hit.document);
    Ok(sessions.filter(|it| it.value.state == State::Collecting).collect())
}

/// Who takes part, with what they offer or seek.
pub(crate) struct Room {
    pub(crate) sessions: Vec<Stored<Session>>,
    profiles: BTreeMap<String, Profile>,
    now: u64,
}

impl Room {
    pub(crate) fn new(call: &Call, sessions: Vec<Stored<Session>>) -> Result<Self, MatchingError> {
        let ids = sessions.iter().map(|it| it.value.listing_id.as_str());
        let profiles = listings::profiles(ids)?.into_iter();
        let profiles = profiles.map(|it| (it.listing_id.clone(), it)).collect();
        Ok(Self { sessions, profiles, now: call.now() })
    }

    pub(crate) fn profile(&self, session: &Stored<Session>) -> Option<&Profile> {
        self.profiles.get(&session.value.listing_id)
    }

    /// Whom of the others somebody could get, the best first, each with its place in the room.
    pub(crate) fn fits(&self, who: &Stored<Session>) -> Result<Vec<(usize, Fit)>, MatchingError> {
        let Some(mine) = self.profile(who) else { return Ok(Vec::new()) };
        let owners = self.sessions.iter().map(|it| it.value.owner_id.as_str());
        let hidden = relations::hidden(Some(&who.value.owner_id), owners)?;
        let mut fits: Vec<(usize, Fit)> = Vec::new();
        for (place, other) in self.sessions.iter().enumerate() {
            let Some(theirs) = self.profile(other) else { continue };
            if other.id == who.id || hidden.contains(&other.value.owner_id) {
                continue;
            }
            // What a session asks for instead of its listing counts on both sides.
            let theirs = Profile { criteria: asks(&other.value, theirs).clone(), ..theirs.clone() };
            let found = fit(mine, asks(&who.value, mine), &theirs, self.now);
            fits.extend(found.map(|fit| (place, fit)));
        }
        let tie = |place: usize| self.sessions.get(place).map(|it| tie(&who.id, &it.id));
        fits.sort_by(|one, other| {
            other.1.score.total_cmp(&one.1.score).then_with(|| tie(one.0).cmp(&tie(other.0)))
        });
        Ok(fits)
    }
}

/// What a round came to: for each place in the room the partner's.
pub(crate) struct Matched {
    got: Vec<Option<usize>>,
    lists: Preferences,
    pub(crate) blocking_pairs: usize,
}

pub(crate) fn partner(
    room: &Room,
    matched: &Matched,
    place: usize,
    session: &Stored<Session>,
) -> Result<Option<Partner>, MatchingError> {
    let Some(other) = matched.got.get(place).copied().flatten() else { return Ok(None) };
    let Some(partner) = room.sessions.get(other) else { return Ok(None) };
    let fit = room.fits(session)?.into_iter().find(|(place, _)| *place == other);
    let list = matched.lists.get(place);
    let rank = list.and_then(|list| list.iter().position(|listed| *listed == other));
    Ok(fit.zip(rank).map(|((_, fit), rank)| Partner {
        session_id: partner.id.clone(),
        listing_id: partner.value.listing_id.clone(),
        rank: rank + 1,
        fit: fit.into(),
        accepted: None,
    }))
}

/// None if there are fewer than two on a side.
pub(crate) fn matched(room: &Room) -> Result<Option<Matched>, MatchingError> {
    let (mut lists, mut scored) = (Preferences::new(), Vec::new());
    for (place, session) in room.sessions.iter().enumerate() {
        let fits = room.fits(session)?;
        scored.extend(fits.iter().map(|(other, fit)| (fit.score, place, *other)));
        lists.push(preferences(room, session, &fits));
    }
    let demands = |session: &Stored<Session>| {
        room.profile(session).is_some_and(|it| it.side == common::taxonomy::Side::Demand)
    };
    let all = 0..room.sessions.len();
    let (ones, others): (Vec<usize>, Vec<usize>) =
        all.partition(|place| room.sessions.get(*place).is_some_and(demands));
    if others.is_empty() || ones.is_empty() {
        if room.sessions.len() < 2 {
            return Ok(None);
        }
        let listed =
            |one: usize, other: usize| lists.get(one).is_some_and(|it| it.contains(&other));
        scored
            .retain(|(_, one, other)| one < other && listed(*one, *other) && listed(*other, *one));
        let got = greedy(scored, lists.len());
        // Each pair was found from both sides.
        let blocking_pairs = blocking_pairs((&lists, &got), (&lists, &got)) / 2;
        return Ok(Some(Matched { got, lists, blocking_pairs }));
    }
    if ones.len() < 2 || others.len() < 2 {
        return Ok(None);
    }
    let of_side = |side: &[usize], across: &[usize]| -> Preferences {
        let place = |other: &usize| across.iter().position(|it| it == other);
        let list = |who: &usize| lists.get(*who).into_iter().flatten().filter_map(place).collect();
        side.iter().map(list).collect()
    };
    let (proposers, receivers) = (of_side(&ones, &others), of_side(&others, &ones));
    let found = deferred_acceptance(&proposers, &receivers);
    let mut got = vec![None; lists.len()];
    let mut back = vec![None; receivers.len()];
    for (one, other) in found.iter().enumerate() {
        let Some(other) = *other else { continue };
        if let Some(back) = back.get_mut(other) {
            *back = Some(one);
        }
        let (Some(&one), Some(&other)) = (ones.get(one), others.get(other)) else { continue };
        for (who, whom) in [(one, other), (other, one)] {
            if let Some(got) = got.get_mut(who) {
                *got = Some(whom);
            }
        }
    }
    let blocking_pairs = blocking_pairs((&proposers, &found), (&receivers, &back));
    Ok(Some(Matched { got, lists, blocking_pairs }))
}

/// As the person has ranked them; then the others by score, unless nobody is better.
fn preferences(room: &Room, session: &Stored<Session>, fits: &[(usize, Fit)]) -> Vec<usize> {
    let place = |id: &String| room.sessions.iter().position(|it| it.id == *id);
    let fitting: Vec<usize> = fits.iter().map(|(place, _)| *place).collect();
    let ranked = session.value.ranking.iter().filter_map(place);
    let mut list: Vec<usize> = ranked.filter(|place| fitting.contains(place)).collect();
    if !session.value.only_ranked {
        let others: Vec<usize> = fitting.into_iter().filter(|it| !list.contains(it)).collect();
        list.extend(others);
    }
    list
}
