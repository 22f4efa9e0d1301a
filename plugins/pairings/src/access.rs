//! Access to a pairing: the two people have it and, for a listing of an organisation, every
//! member who acts in its name and is not blocked with the other side.

use crate::{documents::*, refusals::*, states::*};
use people_kit::people::{self, Person};
use people_kit::{organisations, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Both sides.
const SIDES: [Role; 2] = [Role::Sent, Role::Received];

/// A person who looks at pairings.
pub(crate) struct Viewer {
    pub(crate) owner_id: String,
    /// The organisations in whose name the person acts; empty if no pairing is an organisation's.
    orgs: BTreeSet<String>,
}

impl Viewer {
    /// Reads in whose name the person acts, as far as these pairings depend on it.
    pub(crate) fn load(owner_id: &str, pairings: &[&Stored<Pairing>]) -> Result<Self> {
        let is_of_org = |pairing: &&Stored<Pairing>| {
            SIDES.iter().any(|role| pairing.value.side(*role).org_id.is_some())
        };
        let orgs = match pairings.iter().any(is_of_org) {
            true => organisations::acting_orgs(owner_id)?,
            false => BTreeSet::new(),
        };
        Ok(Self { owner_id: owner_id.to_owned(), orgs })
    }

    /// Returns the person's side; `None` if the pairing is not theirs.
    pub(crate) fn role(&self, pairing: &Pairing) -> Option<Role> {
        let is_own = |role: &Role| pairing.side(*role).owner_id == self.owner_id;
        let acts = |role: &Role| match &pairing.side(*role).org_id {
            Some(org_id) => self.orgs.contains(org_id),
            None => is_own(role),
        };
        let mine: Vec<Role> = SIDES.into_iter().filter(acts).collect();
        mine.iter().find(|role| is_own(role)).or(mine.first()).copied()
    }
}

/// Returns the people on a side who are notified, as far as the other side may see them. The person
/// who stands for an organisation is one of them in any case, while they act in its name.
pub(crate) fn people(pairing: &Pairing, role: Role) -> Result<Vec<String>> {
    let (side, other) = (pairing.side(role), pairing.side(role.other()));
    let Some(org_id) = &side.org_id else { return Ok(vec![side.owner_id.clone()]) };
    let mut people = organisations::members_visible_to(org_id, [other.owner_id.as_str()])?;
    people.truncate(organisations::MOST_TOLD);
    if !people.contains(&side.owner_id)
        && organisations::acting_members(org_id)?.contains(&side.owner_id)
    {
        people.push(side.owner_id.clone());
    }
    Ok(people)
}

/// Returns the people on a side who are notified and still exist, in the same order.
pub(crate) fn existing(pairing: &Pairing, role: Role) -> Result<Vec<Person>> {
    let owner_ids = self::people(pairing, role)?;
    let mut found = people::people(owner_ids.iter().map(String::as_str))?;
    Ok(owner_ids.iter().filter_map(|owner_id| found.remove(owner_id)).collect())
}

/// Returns whether a person may stand for the organisation of this side.
pub(crate) fn can_stand_in(pairing: &Pairing, role: Role, owner_id: &str) -> Result<bool> {
    let (side, other) = (pairing.side(role), pairing.side(role.other()));
    let Some(org_id) = &side.org_id else { return Ok(false) };
    let members = organisations::members_visible_to(org_id, [other.owner_id.as_str()])?;
    Ok(members.iter().any(|member| member == owner_id))
}

/// Refuses a member of an organisation who is blocked with the other side, as if there were no such
/// pairing. For the person who answers, the block ends the pairing instead.
pub(crate) fn ensure_visible(pairing: &Pairing, role: Role, me: &str) -> Result<()> {
    let (side, other) = (pairing.side(role), pairing.side(role.other()));
    match side.owner_id != me && relations::are_blocked(me, &other.owner_id)? {
        true => Err(PairingError::PairingNotFound),
        false => Ok(()),
    }
}

/// Returns the actions that this person, who is on this side, may take in the present state; without
/// messages once the conversation is closed.
pub(crate) fn allowed(pairing: &Pairing, role: Role, me: &str) -> Vec<&'static str> {
    let (side, state) = (pairing.side(role), pairing.state);
    let own = match role {
        Role::Sent => PROPOSER,
        Role::Received => RECIPIENT,
    };
    let mut actions = PAIRING.allowed_as(own, state);
    if side.org_id.is_some() {
        let shared = PAIRING.allowed_as(MEMBER, state);
        actions.extend(shared.into_iter().filter(|action| SHARED.contains(action)));
    }
    actions.retain(|action| match *action {
        "disclose" => side.can_disclose(me),
        "message" => !pairing.thread_closed,
        _ => true,
    });
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use people_kit::pairings::Origin;
    use std::collections::BTreeMap;

    fn side(owner_id: &str, org_id: Option<&str>) -> Side {
        Side {
            owner_id: owner_id.into(),
            listing_id: format!("lst_{owner_id}"),
            org_id: org_id.map(str::to_owned),
            lister_id: None,
            assigned_to: None,
            agent_id: None,
            disclosed: BTreeMap::new(),
            disclosed_by: None,
            away: false,
            listing_ended: None,
        }
    }

    fn pairing(state: State) -> Pairing {
        Pairing {
            from: side("own_1", None),
            to: side("own_2", Some("org_1")),
            people: both("own_1", "own_2"),
            category: "work.job".into(),
            origin: Origin::Proposal,
            state,
            changed_at: 0,
            due_at: None,
            messages: Vec::new(),
            candidate_id: None,
            hold_id: None,
            cost: 0,
            thread_id: None,
            reason_code: None,
            outcome: None,
            exchanged: BTreeSet::new(),
            reason: None,
            thread_closed: false,
            proposed_to: BTreeMap::new(),
            changes: Vec::new(),
            free_until: None,
        }
    }

    fn viewer(owner_id: &str, orgs: &[&str]) -> Viewer {
        let orgs = orgs.iter().map(|org_id| (*org_id).to_owned()).collect();
        Viewer { owner_id: owner_id.into(), orgs }
    }

    #[test]
    fn a_side_of_an_organisation_belongs_to_those_who_act_for_it() {
        let pairing = pairing(State::Proposed);
        assert_eq!(viewer("own_1", &[]).role(&pairing), Some(Role::Sent));
        for owner_id in ["own_2", "own_3"] {
            assert_eq!(viewer(owner_id, &["org_1"]).role(&pairing), Some(Role::Received));
            assert_eq!(viewer(owner_id, &["org_2"]).role(&pairing), None, "{owner_id} has left");
        }
        assert_eq!(viewer("own_1", &["org_1"]).role(&pairing), Some(Role::Sent));
    }

    #[test]
    fn members_answer_assign_and_take_over() {
        let mut pairing = pairing(State::Proposed);
        let received = |pairing: &Pairing, me| allowed(pairing, Role::Received, me);
        assert_eq!(received(&pairing, "own_3"), ["reply", "assign", "take_over"]);
        assert_eq!(allowed(&pairing, Role::Sent, "own_1"), ["withdraw"]);
        pairing.assign(Role::Received, "own_3");
        assert_eq!(received(&pairing, "own_2"), ["reply", "assign", "take_over"]);
        assert_eq!(pairing.people, both("own_1", "own_3"));
        pairing.state = State::Closed;
        assert_eq!(received(&pairing, "own_2"), Vec::<&str>::new());
    }

    #[test]
    fn contact_data_is_that_of_the_member_who_answers() {
        let mut pairing = pairing(State::Connected);
        let discloses =
            |pairing: &Pairing, me| allowed(pairing, Role::Received, me).contains(&"disclose");
        assert!(discloses(&pairing, "own_2") && !discloses(&pairing, "own_3"));
        pairing.to.disclosed.insert(Kind::Phone, None);
        pairing.to.disclosed_by = Some("own_2".into());
        pairing.exchanged.insert(Kind::Phone);
        pairing.assign(Role::Received, "own_3");
        assert!(!discloses(&pairing, "own_2") && discloses(&pairing, "own_3"));
        assert_eq!(pairing.to.discloser(), "own_2");
        assert!(pairing.to.replaces_discloser("own_3") && !pairing.to.replaces_discloser("own_2"));
    }
}
