//! The holds: how they end, and how long one organizer holds a person.

use crate::{documents::*, limits::*, refusals::*};
use people_kit::calendar;
use portolan_sdk::prelude::*;

/// Returns the holds of a group that have not ended.
pub(crate) fn of_group(call: &Call, group_id: &str) -> Result<Vec<Stored<Hold>>> {
    let filter = field("group_id").eq(group_id).and(field("until").gt(call.now()));
    let found = HOLDS.all(Query::new().filter(filter).limit(100));
    found.map(|hit| Ok(hit?.document)).collect()
}

/// Ends a hold, also one whose organizer no longer exists.
pub(crate) fn end(hold_id: &str) -> Result<()> {
    if HOLDS.get(hold_id)?.is_some() {
        HOLDS.delete(hold_id, Expect::Any)?;
    }
    timers::cancel(&timer(hold_id))?;
    Ok(calendar::release(hold_id)?)
}

/// Ends the holds of a group.
pub(crate) fn end_of_group(call: &Call, group_id: &str) -> Result<()> {
    for hold in of_group(call, group_id)? {
        end(&hold.id)?;
    }
    Ok(())
}

/// Ends the holds of all of these people together. Those beyond the first ones end by themselves within an hour.
pub(crate) fn end_all_of(owner_ids: &[String]) -> Result<()> {
    let theirs = all_of(owner_ids.iter().map(|owner_id| field("owner_ids[]").eq(owner_id)));
    let (holds, _) = HOLDS.find(Query::new().filter(theirs).limit(HOLDS_ENDED))?.into_parts();
    for hold in holds {
        end(&hold.id)?;
    }
    Ok(())
}

pub(crate) fn timer(hold_id: &str) -> String {
    format!("hold/{hold_id}")
}

/// Counts the minutes for which the organizer of a group would hold each of these people but themself, or refuses.
/// Nothing is stored: the returned counts are to be saved when the people are held.
pub(crate) fn count(
    call: &Call,
    group: &Stored<Group>,
    people: &[String],
    minutes: u32,
) -> Result<Vec<Stored<Held>>> {
    let organizer = &group.value.organizer;
    let message = "You have held somebody of this group as long as allowed today.";
    let mut counts = Vec::new();
    for owner_id in people.iter().filter(|owner_id| *owner_id != organizer) {
        let mut held = HELD.get_or_default(&format!("{organizer}.{owner_id}"))?;
        organizer.clone_into(&mut held.value.organizer);
        owner_id.clone_into(&mut held.value.owner_id);
        let times = &mut held.value.minutes;
        for _ in 0..minutes {
            let (now, next) = (call.now(), get(&group.id));
            HELD_BY_ONE.count(times, now, "minutes_held_per_person_and_day", message, next)?;
        }
        counts.push(held);
    }
    Ok(counts)
}
