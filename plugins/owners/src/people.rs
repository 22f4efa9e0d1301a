//! What other capabilities may know of people.

use crate::{
    life::State,
    profile,
    types::{OWNERS, Record},
};
use common::people::{People, Person, Who};
use portolan_sdk::{contract::identity, prelude::*};

/// Those of them that there are.
pub(crate) fn people(call: &Call, who: Who) -> Result<People, Refusal> {
    let mut existing = Vec::new();
    for owner_id in who.owner_ids {
        if known(call, &owner_id)?.is_some() {
            existing.push(owner_id);
        }
    }
    let records = OWNERS.get_many(existing.clone())?.into_iter();
    let records = records.map(|owner| owner.map(|owner| owner.value).unwrap_or_default());
    let people = existing.into_iter().zip(records);
    Ok(People { people: people.map(|(id, record)| person(id, record, call.now())).collect() })
}

/// What the host knows of a person. Live and test mode do not see each other's people; where the
/// host itself calls, the ids come from what is kept for one of the two.
pub(crate) fn known(call: &Call, owner_id: &str) -> Result<Option<identity::Person>, HostError> {
    let owner = identity::owner(owner_id)?;
    let same_mode = |owner: &identity::Person| {
        call.agent().is_none_or(|agent| agent.test_mode == owner.test_mode)
    };
    Ok(owner.filter(same_mode))
}

fn person(owner_id: String, record: Record, now: u64) -> Person {
    let active = record.state == State::Active;
    Person {
        owner_id,
        display_name: record.profile.display_name.filter(|_| active),
        active,
        contact_policy: record.preferences.contact_policy,
        age_at_least: record.profile.birth_year.map(|year| profile::age_at_least(year, now)),
    }
}
