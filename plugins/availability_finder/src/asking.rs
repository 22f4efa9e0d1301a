//! The people who are asked, and how often. With the grid of cells and the bounds of an answer, this is the rule that
//! limits what can be inferred about a person's time.

use crate::{documents::*, limits::*, refusals::*, states::*};
use people_kit::{people, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Returns the people of a group whose time counts: the organizer first, then those who have accepted and can
/// still be asked. People who are deactivated are left out, and those who have blocked the organizer or whom the
/// organizer has blocked.
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

/// Returns those of these people who have blocked another of them, or whom another of them has blocked.
pub(crate) fn hidden_from_another(owner_ids: &[String]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for (number, owner_id) in owner_ids.iter().enumerate() {
        let others = owner_ids.iter().skip(number + 1).map(String::as_str);
        let hidden = relations::hidden(Some(owner_id), others)?;
        if !hidden.is_empty() {
            found.insert(owner_id.clone());
            found.extend(hidden);
        }
    }
    Ok(found)
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

/// Counts one question about these people of a group, and stores it. `guest` asks by a link of the group; without
/// one, it is the organizer, whose own calendar is not a question. The refusal does not tell whether the limit of
/// the group or that of a person is reached: the other groups of a person are not the asker's business. So its wait
/// is that for the oldest counted question of the group in both cases, and the next one may be refused again.
pub(crate) fn count(
    call: &Call,
    group: &mut Stored<Group>,
    people: &[String],
    guest: Option<&str>,
    next: Next,
) -> Result<()> {
    let now = call.now();
    let asked = &mut group.value;
    asked.guests.retain(|question| question.at + QUESTIONS_OF_GUESTS.within > now);
    if let Some(guest) = guest {
        ensure_share_of_guest(asked, guest, now, next.clone())?;
    }
    let are_all_used = QUESTIONS_OF_GROUP.wait(&mut asked.questions, now).is_some();
    let are_theirs_used = guest.is_some() && asked.guests.len() >= QUESTIONS_OF_GUESTS.most;
    let oldest = match guest {
        Some(_) => asked.guests.iter().map(|question| question.at).min(),
        None => asked.questions.iter().copied().min(),
    };
    let wait = oldest.map_or(DAY, |at| (at + DAY).saturating_sub(now));
    let limit = Limit::within("questions_of_a_group_per_day", &QUESTIONS_OF_GROUP, wait);
    let message = "This group has been asked as often as allowed today.";
    let too_many = || quota(message, &limit, next.clone());
    if are_all_used || are_theirs_used {
        return Err(too_many().into());
    }
    for owner_id in people.iter().filter(|owner_id| **owner_id != asked.organizer) {
        match QUESTIONS_ABOUT_PERSON.count(call, DAYS, owner_id, next.clone()) {
            Err(refusal) if refusal.code == "quota_exceeded" => return Err(too_many().into()),
            counted => counted?,
        }
    }
    asked.questions.push(now);
    let question = guest.map(|guest| GuestQuestion { owner_id: guest.to_owned(), at: now });
    asked.guests.extend(question);
    asked.asked_at = Some(now);
    Ok(group.save()?)
}

/// Refuses a guest who has asked about a group as often as one guest may.
fn ensure_share_of_guest(group: &Group, guest: &str, now: u64, next: Next) -> Result<()> {
    let theirs = group.guests.iter().filter(|question| question.owner_id == guest);
    let mut theirs: Vec<u64> = theirs.map(|question| question.at).collect();
    let Some(wait) = QUESTIONS_OF_ONE_GUEST.wait(&mut theirs, now) else { return Ok(()) };
    let limit = Limit::within("questions_of_a_guest_per_day", &QUESTIONS_OF_ONE_GUEST, wait);
    let message = "You have asked about the people of this link as often as allowed today.";
    Err(quota(message, &limit, next).into())
}
