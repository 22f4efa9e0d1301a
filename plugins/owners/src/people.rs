//! The data about people that other capabilities may know.

use crate::{profile, types::*};
use people_kit::people::{
    Contact, ContactPolicy, People, PeopleQuery, Person, Presence, Presences,
};
use people_kit::relations::{Tuple, relate};
use portolan_sdk::{contract::identity, prelude::*};

/// Returns what other capabilities may know about these people. People who do not exist are left
/// out.
pub(crate) fn people(call: &Call, query: PeopleQuery) -> Result<People, Refusal> {
    let (mut existing, mut known_people) = (Vec::new(), Vec::new());
    for owner_id in query.owner_ids {
        if let Some(known) = known(call, &owner_id)? {
            existing.push(owner_id);
            known_people.push(known);
        }
    }
    let records = OWNERS.get_many(existing.clone())?.into_iter();
    let records = records.map(|owner| owner.map(|owner| owner.value).unwrap_or_default());
    let people = existing.into_iter().zip(records).zip(known_people);
    let people = people.map(|((id, record), known)| person(id, record, &known, call.now()));
    Ok(People { people: people.collect() })
}

/// Returns when an agent of each of these people last called. People who do not exist are left out.
pub(crate) fn presence(call: &Call, query: PeopleQuery) -> Result<Presences, Refusal> {
    let mut people = Vec::new();
    for owner_id in query.owner_ids {
        if known(call, &owner_id)?.is_some() {
            let last_call_at = identity::last_call(&owner_id)?;
            people.push(Presence { owner_id, last_call_at });
        }
    }
    Ok(Presences { people })
}

/// Returns what the host knows about a person; `None` if there is no such person in the caller's
/// mode. If the host itself calls, the mode is not compared: the ids come from documents of one
/// mode.
pub(crate) fn known(call: &Call, owner_id: &str) -> Result<Option<identity::Person>, HostError> {
    let owner = identity::owner(owner_id)?;
    let same_mode = |owner: &identity::Person| {
        call.agent().is_none_or(|agent| agent.test_mode == owner.test_mode)
    };
    Ok(owner.filter(same_mode))
}

fn person(owner_id: String, record: Record, known: &identity::Person, now: u64) -> Person {
    let active = record.is_active();
    let declined = record.preferences.auto_decline_rules.into_iter();
    Person {
        owner_id,
        display_name: record.profile.display_name.filter(|_| active),
        test_mode: known.test_mode,
        active,
        has_agent: known.agents > 0,
        contact_policy: record.preferences.contact_policy,
        age_at_least: record.profile.birth_year.map(|year| profile::age_at_least(year, now)),
        declined_categories: declined.map(|rule| rule.category).collect(),
    }
}

/// Returns how a person can be reached; no links while they are deactivated or suspended.
pub(crate) fn contact(call: &Call, owner_id: &str) -> Result<Contact, Refusal> {
    if known(call, owner_id)?.is_none() {
        return Ok(Contact::default());
    }
    let record = OWNERS.get(owner_id)?.map(|owner| owner.value);
    let record = record.filter(Record::is_active).unwrap_or_default();
    Ok(Contact { links: record.profile.links })
}

/// Writes into `social_permissions` who may approach the person.
pub(crate) fn state_policy(owner_id: &str, record: &Record) -> Result<(), Refusal> {
    let (write, delete): (Vec<_>, Vec<_>) =
        policy(owner_id, record).into_iter().partition(|(holds, _)| *holds);
    let tuples = |stated: Vec<(bool, Tuple)>| stated.into_iter().map(|(_, tuple)| tuple).collect();
    relate(tuples(write), tuples(delete))
}

/// Returns each relation of the policy, and whether it holds.
fn policy(owner_id: &str, record: &Record) -> [(bool, Tuple); 2] {
    let policy = record.preferences.contact_policy;
    let closed = policy == ContactPolicy::Paused || !record.is_active();
    let relation = |relation: &str| Tuple::new(format!("owner:{owner_id}"), relation, "*");
    [(policy == ContactPolicy::Network, relation("network_only")), (closed, relation("closed"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::State;

    #[test]
    fn policy_and_state_decide_who_may_approach() {
        let stated = |contact_policy, state| {
            let mut record = Record { state, ..Record::default() };
            record.preferences.contact_policy = contact_policy;
            let holding = policy("own_1", &record).into_iter().filter(|(holds, _)| *holds);
            holding.map(|(_, tuple)| tuple.relation).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(stated(ContactPolicy::AnyoneMatching, State::Active), none);
        assert_eq!(stated(ContactPolicy::Network, State::Active), ["network_only"]);
        assert_eq!(stated(ContactPolicy::Paused, State::Active), ["closed"]);
        assert_eq!(stated(ContactPolicy::AnyoneMatching, State::Deactivated), ["closed"]);
        let both = stated(ContactPolicy::Network, State::Deactivated);
        assert_eq!(both, ["network_only", "closed"]);
    }
}
