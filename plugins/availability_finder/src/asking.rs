//! Who is asked, and how often. With the grid of cells and the bounds of an answer, this is the rule that
//! limits what can be inferred about a person's time.

use crate::{documents::*, limits::*, refusals::*, states::*};
use people_kit::{people, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Returns the people of a group whose time counts: the organizer first, then those who have accepted and can
/// still be asked. A person who is deactivated, or one of the two has blocked the other, is left out.
pub(crate) fn agreed(group: &Group) -> Result<Vec<String>> {
    let accepted = group.members.iter().filter(|member| member.state == Membership::Accepted);
    let accepted: BTreeSet<&str> = accepted.map(|member| member.owner_id.as_str()).collect();
    let askable = askable(&group.organizer, accepted)?;
    Ok(std::iter::once(group.organizer.clone()).chain(askable).collect())
}

/// Returns those of these people who can be asked by a person.
pub(crate) fn askable(asker: &str, owner_ids: BTreeSet<&str>) -> Result<BTreeSet<String>> {
    let hidden = relations::hidden(Some(asker), owner_ids.iter().copied())?;
    let found = people::people(owner_ids)?.into_values();
    let active = found.filter(|person| person.active && !hidden.contains(&person.owner_id));
    Ok(active.map(|person| person.owner_id).collect())
}

/// Refuses to ask about too few people. Somebody who has agreed to be one of several is not asked alone with the
/// organizer.
pub(crate) fn ensure_enough(group: &Stored<Group>, people: &[String]) -> Result<()> {
    let least = if group.value.begun_with > 2 { LEAST_OF_MANY } else { 2 };
    match people.len() >= least {
        true => Ok(()),
        false => Err(too_few(group, least)),
    }
}

pub(crate) fn too_few(group: &Stored<Group>, least: usize) -> FinderError {
    let least = u64::try_from(least).unwrap_or(u64::MAX);
    FinderError::NotEnoughPeople { group_id: group.id.clone(), least }
}

/// Counts one question about these people of a group, and stores it.
pub(crate) fn count(call: &Call, group: &mut Stored<Group>, people: &[String]) -> Result<()> {
    let message = "This group has been asked as often as allowed today.";
    let next = get(&group.id);
    let questions = &mut group.value.questions;
    QUESTIONS_OF_GROUP.count(
        questions,
        call.now(),
        "questions_of_a_group_per_day",
        message,
        next,
    )?;
    for owner_id in people {
        QUESTIONS_ABOUT_PERSON.count(call, DAYS, owner_id, get(&group.id))?;
    }
    group.value.asked_at = Some(call.now());
    Ok(group.save()?)
}
