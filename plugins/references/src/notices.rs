//! The events of encounters and references. None depends on what is not shown yet.

use crate::{documents::*, refusals::*, types::*};
use people_kit::visible;
use portolan_sdk::prelude::*;

/// Tells both people of an encounter that they may write about each other, if they see each other.
pub(crate) fn invite(encounter: &Stored<Encounter>) -> Result<()> {
    let summary =
        "You may write a reference about somebody whom you have met or dealt with. You need not.";
    for owner_id in &encounter.value.people {
        let Some(other) = encounter.value.other(owner_id) else { continue };
        if !visible::people(owner_id, [other])?.contains_key(other) {
            continue;
        }
        let facts = Facts {
            encounter_id: encounter.id.clone(),
            closes_at: Some(rfc3339(encounter.value.closes_at)),
            ..Facts::default()
        };
        let data = Data::by_system(encounter.resource(), summary, facts);
        let data = data.next(read_encounter(&encounter.id));
        encounter.publish(INVITED, Audience::Owner(owner_id.clone()), &data)?;
    }
    Ok(())
}

/// Tells both people that a reference is shown, if they see each other.
pub(crate) fn show(reference: &Stored<Reference>) -> Result<()> {
    let Reference { author_id, about_id, .. } = &reference.value;
    for (owner_id, other, role, summary) in [
        (author_id, about_id, Role::Sent, "The reference that you wrote is shown now."),
        (about_id, author_id, Role::Received, "A reference about you is shown now."),
    ] {
        if !visible::people(owner_id, [other.as_str()])?.contains_key(other) {
            continue;
        }
        let data = match role {
            Role::Received => {
                Data::by_owner(author_id, reference.resource(), summary, facts(reference, role))
            }
            _ => Data::by_system(reference.resource(), summary, facts(reference, role)),
        };
        let data = data.next(get(&reference.id));
        reference.publish(SHOWN, Audience::Owner(owner_id.clone()), &data)?;
    }
    Ok(())
}

/// Tells the author of a reference that the other person has replied.
pub(crate) fn reply(call: &Call, reference: &Stored<Reference>) -> Result<()> {
    let summary = "Somebody has replied to a reference that you wrote.";
    let facts = facts(reference, Role::Sent);
    let data = Data::new(call, reference.resource(), summary, facts).next(get(&reference.id));
    let author_id = reference.value.author_id.clone();
    Ok(reference.publish(REPLIED, Audience::Owner(author_id), &data)?)
}

fn facts(reference: &Stored<Reference>, role: Role) -> Facts {
    Facts {
        encounter_id: reference.value.encounter_id.clone(),
        reference_id: Some(reference.id.clone()),
        role: Some(role),
        closes_at: None,
    }
}
