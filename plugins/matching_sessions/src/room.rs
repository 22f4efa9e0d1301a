//! The participants of a round, and their matching.

use crate::stable::{self, Preferences, blocking_pairs};
use crate::{documents::*, queue::cooling, score::*, session, states::*, types::*};
use people_kit::listings::{self, Profile};
use people_kit::{relations, taxonomy::Side};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// Returns the participants who have not left.
pub(crate) fn participants(round_id: &str) -> Result<Vec<Stored<Session>>> {
    let filter = field("round_id").eq(round_id).and(field("state").eq(State::Collecting));
    let page = SESSIONS.find(Query::new().filter(filter).limit(MOST_IN_ROUND as u32))?;
    Ok(page.into_documents().collect())
}

/// A possible partner, with its index in the room.
pub(crate) type PossiblePartner<'a> = (usize, &'a Stored<Session>, Fit);

/// The participants, with their listings.
pub(crate) struct Room {
    pub(crate) sessions: Vec<Stored<Session>>,
    /// The listings by id. A session's own criteria replace those of its listing, on both sides.
    profiles: BTreeMap<String, Profile>,
    now: u64,
}

impl Room {
    pub(crate) fn new(call: &Call, sessions: Vec<Stored<Session>>) -> Result<Self> {
        let ids = sessions.iter().map(|session| session.value.listing_id.as_str());
        let mut profiles = session::by_id(listings::profiles_for_matching(ids)?);
        for session in &sessions {
            if let Some(profile) = profiles.get_mut(&session.value.listing_id) {
                profile.criteria = session::criteria_of(&session.value, profile).clone();
            }
        }
        Ok(Self { sessions, profiles, now: call.now() })
    }

    pub(crate) fn profile(&self, session: &Stored<Session>) -> Option<&Profile> {
        self.profiles.get(&session.value.listing_id)
    }

    /// Returns the possible partners of a participant, best first, each with its index in the room.
    pub(crate) fn fits(&self, participant: &Stored<Session>) -> Result<Vec<PossiblePartner<'_>>> {
        let others = self.sessions.iter().enumerate();
        let mut fits: Vec<PossiblePartner<'_>> = others
            .filter_map(|(index, other)| Some((index, other, self.fit(participant, other)?)))
            .collect();
        let owners = fits.iter().map(|(_, other, _)| other.value.owner_id.as_str());
        let hidden = relations::hidden(Some(&participant.value.owner_id), owners)?;
        let listings = fits.iter().map(|(_, other, _)| other.value.listing_id.as_str());
        let cooling = cooling(&participant.value.listing_id, listings)?;
        fits.retain(|(_, Stored { value, .. }, _)| {
            !hidden.contains(&value.owner_id) && !cooling.contains(&value.listing_id)
        });
        fits.sort_by(|(_, one, fit), (_, other, better)| {
            let tie = |session: &Stored<Session>| tie(&participant.id, &session.id);
            better.score.total_cmp(&fit.score).then_with(|| tie(one).cmp(&tie(other)))
        });
        Ok(fits)
    }

    fn fit(&self, participant: &Stored<Session>, other: &Stored<Session>) -> Option<Fit> {
        let (mine, theirs) = (self.profile(participant)?, self.profile(other)?);
        if !mine.is_of_age() || !theirs.is_of_age() {
            return None;
        }
        fit(mine, &mine.criteria, theirs, self.now)
    }

    fn is_of(&self, side: Side, session: &Stored<Session>) -> bool {
        self.profile(session).is_some_and(|profile| profile.side == side)
    }

    /// Whether offers are matched with demands, and not all with all.
    fn has_two_sides(&self) -> bool {
        let mut profiles = self.sessions.iter().filter_map(|session| self.profile(session));
        profiles.any(|profile| profile.side != profile.counterpart_side)
    }
}

/// The result of a round.
pub(crate) struct Matching {
    /// For each index in the room, the indexes of the partners, the most preferred first.
    assigned: Vec<Vec<usize>>,
    lists: Preferences,
    pub(crate) blocking_pairs: usize,
}

impl Matching {
    /// Returns the result if too few took part: nobody has a partner.
    pub(crate) fn empty() -> Self {
        Self { assigned: Vec::new(), lists: Preferences::new(), blocking_pairs: 0 }
    }

    /// Returns the partners of the session with this index in the room.
    pub(crate) fn partners(&self, room: &Room, index: usize) -> Vec<Partner> {
        let (Some(assigned), Some(list)) = (self.assigned.get(index), self.lists.get(index)) else {
            return Vec::new();
        };
        let partner = |other: &usize| {
            let (session, partner) = (room.sessions.get(index)?, room.sessions.get(*other)?);
            Some(Partner {
                session_id: partner.id.clone(),
                owner_id: partner.value.owner_id.clone(),
                listing_id: partner.value.listing_id.clone(),
                rank: list.iter().position(|listed| listed == other)? + 1,
                fit: room.fit(session, partner)?,
                state: Candidacy::New,
                pairing_id: None,
            })
        };
        assigned.iter().filter_map(partner).collect()
    }
}

/// Computes the matching; returns `None` if too few took part.
pub(crate) fn compute_matching(room: &Room) -> Result<Option<Matching>> {
    let (mut lists, mut scored) = (Preferences::new(), Vec::new());
    for (index, session) in room.sessions.iter().enumerate() {
        let fits = room.fits(session)?;
        scored.extend(fits.iter().map(|(other, _, fit)| (fit.score, index, *other)));
        lists.push(preferences(room, session, &fits));
    }
    Ok(match room.has_two_sides() {
        true => match_two_sides(room, lists),
        false => match_one_side(scored, lists),
    })
}

/// Makes pairs of participants of the same side.
fn match_one_side(mut scored: Vec<(f64, usize, usize)>, lists: Preferences) -> Option<Matching> {
    if lists.len() < 2 {
        return None;
    }
    let listed =
        |one: usize, other: usize| lists.get(one).is_some_and(|list| list.contains(&other));
    scored.retain(|(_, one, other)| one < other && listed(*one, *other) && listed(*other, *one));
    let assigned = stable::greedy(scored, lists.len());
    let all = stable::Side { lists: &lists, assigned: &assigned, seats: &[] };
    // Each pair was found from both sides.
    let blocking_pairs = blocking_pairs(&all, &all) / 2;
    Some(Matching { assigned, lists, blocking_pairs })
}

/// Matches each demand with at most one offer; an offer may accept several demands.
fn match_two_sides(room: &Room, lists: Preferences) -> Option<Matching> {
    let demands = |index: &usize| {
        room.sessions.get(*index).is_some_and(|session| room.is_of(Side::Demand, session))
    };
    let (ones, others): (Vec<usize>, Vec<usize>) = (0..lists.len()).partition(demands);
    if ones.len() < 2 || others.len() < 2 {
        return None;
    }
    let of_side = |side: &[usize], across: &[usize]| -> Preferences {
        let index = |other: &usize| across.iter().position(|index| index == other);
        let list = |who: &usize| lists.get(*who).into_iter().flatten().filter_map(index).collect();
        side.iter().map(list).collect()
    };
    let (proposers, receivers) = (of_side(&ones, &others), of_side(&others, &ones));
    let seats = |index: &usize| {
        room.sessions.get(*index).map_or(1, |session| session.value.capacity as usize)
    };
    let seats: Vec<usize> = others.iter().map(seats).collect();
    let holds = stable::deferred_acceptance(&proposers, &receivers, &seats);
    let found = stable::inverse(&holds, ones.len());
    let blocking_pairs = blocking_pairs(
        &stable::Side { lists: &proposers, assigned: &found, seats: &[] },
        &stable::Side { lists: &receivers, assigned: &holds, seats: &seats },
    );
    let mut assigned = vec![Vec::new(); lists.len()];
    for (side, across, found) in [(&ones, &others, &found), (&others, &ones, &holds)] {
        for (who, whom) in side.iter().zip(found) {
            if let Some(assigned) = assigned.get_mut(*who) {
                *assigned = whom.iter().filter_map(|index| across.get(*index).copied()).collect();
            }
        }
    }
    Some(Matching { assigned, lists, blocking_pairs })
}

/// Returns the preferences: first those that the person has ranked; then the others by score,
/// unless the person wants only the ranked ones.
fn preferences(room: &Room, session: &Stored<Session>, fits: &[PossiblePartner<'_>]) -> Vec<usize> {
    let index =
        |ranked: &Ranked| room.sessions.iter().position(|session| session.id == ranked.session_id);
    let fitting: Vec<usize> = fits.iter().map(|(index, ..)| *index).collect();
    let mut list: Vec<usize> = session.value.ranking.iter().filter_map(index).collect();
    list.retain(|index| fitting.contains(index));
    if !session.value.only_ranked {
        let ranked = list.clone();
        list.extend(fitting.into_iter().filter(|index| !ranked.contains(index)));
    }
    list
}
