//! Proposed times: validated, and compared with calendars.

use crate::{documents::*, refusals::*, types::*};
use people_kit::calendar::{self, AlternativesQuery, Firmness, FreeQuery, Reserve};
use people_kit::relations;
use portolan_sdk::{prelude::*, time::parse};

/// Returns the slots of an input. Refuses unless each has this length, begins in the future within
/// [`HORIZON`], and begins at another time than the others.
pub(crate) fn slots(call: &Call, given: &[calendar::Slot], duration_min: u32) -> Result<Vec<Slot>> {
    let mut slots: Vec<Slot> = Vec::new();
    for (number, slot) in given.iter().enumerate() {
        let at = |field: &str| format!("/slots/{number}/{field}");
        let wrong = |field: &str, rule: &str, expected: &str| {
            MeetingError::Common(Refusal::validation(&at(field), rule, expected))
        };
        let Some((start, end)) = slot.millis() else {
            return Err(wrong("end", "after_start", "a time after the start"));
        };
        if end - start != u64::from(duration_min) * MINUTE {
            return Err(wrong("end", "duration", "the start plus the meeting's duration_min"));
        }
        if start <= call.now() {
            let errors = faulty(at("start"), "in_future", "a time that has not begun");
            return Err(MeetingError::SlotInPast { errors });
        }
        if start > call.now() + HORIZON {
            return Err(wrong("start", "horizon", "a time within 400 days"));
        }
        if slots.iter().any(|slot| slot.start == start) {
            return Err(wrong("start", "distinct", "a time that is not in another slot too"));
        }
        slots.push(Slot { slot_id: call.new_id("slot"), start, end });
    }
    Ok(slots)
}

pub(crate) fn respond_by(call: &Call, given: Option<&str>) -> Result<Option<u64>> {
    let wrong = || Refusal::validation("/respond_by", "in_future", "a time that is to come");
    let parse_future = |given| parse(given).filter(|at| *at > call.now()).ok_or_else(wrong);
    Ok(given.map(parse_future).transpose()?)
}

/// Refuses times at which the caller is busy. `others` are the people to meet; the reservation of
/// the meeting `reference` does not count.
pub(crate) fn ensure_free(
    me: &str,
    others: &[&str],
    slots: &[Slot],
    duration_min: u32,
    reference: Option<&str>,
    now: u64,
) -> Result<()> {
    let query = FreeQuery {
        owner_ids: vec![me.to_owned()],
        slots: slots.iter().map(calendar_slot).collect(),
        reference: reference.map(str::to_owned),
    };
    let free = calendar::free(&query)?;
    let taken = slots.iter().zip(free).filter(|(_, free)| !free).map(|(slot, _)| slot);
    let busy: Vec<_> = taken.map(calendar_slot).collect();
    let (Some(first), false) = (slots.first(), busy.is_empty()) else { return Ok(()) };
    // The others are checked only if the person may see their busy times anyway.
    let mut owner_ids = vec![me.to_owned()];
    for other in others {
        if relations::has_relation(format!("owner:{other}"), "can_see_freebusy", me)? {
            owner_ids.push((*other).to_owned());
        }
    }
    let free_alternatives = alternatives(owner_ids, duration_min, first.start, now)?;
    Err(MeetingError::CalendarConflict { busy, free_alternatives })
}

/// Reserves the time of all participants, or refuses the slot.
pub(crate) fn reserve(call: &Call, meeting: &Stored<Meeting>, slot: &Slot) -> Result<()> {
    let value = &meeting.value;
    let owner_ids: Vec<_> = value.owner_ids().map(str::to_owned).collect();
    let reservation = Reserve {
        reference: meeting.id.clone(),
        owner_ids: owner_ids.clone(),
        slot: calendar_slot(slot),
        kind: Firmness::Firm,
        title: Some(value.title.clone()),
        title_by: Some(value.organizer.clone()),
        within_availability: false,
    };
    match calendar::reserve(&reservation) {
        // The refusal does not say who is busy, or in which part of the slot.
        Err(refusal) if refusal.code == "slot_taken" => Err(MeetingError::SlotTaken {
            meeting_id: meeting.id.clone(),
            busy: vec![calendar_slot(slot)],
            free_alternatives: alternatives(owner_ids, value.duration_min, slot.start, call.now())?,
        }),
        other => Ok(other?),
    }
}

/// Returns the earliest slots, from a day before `around` but not in the past, in which all these
/// people can be booked.
fn alternatives(
    owner_ids: Vec<String>,
    duration_min: u32,
    around: u64,
    now: u64,
) -> Result<Vec<calendar::Slot>> {
    let from = now.max(around.saturating_sub(DAY));
    let (from, to) = (rfc3339(from), rfc3339(from + ALTERNATIVES_WITHIN));
    let query = AlternativesQuery { owner_ids, duration_min, from, to, limit: ALTERNATIVES };
    Ok(calendar::alternatives(&query)?)
}

fn calendar_slot(slot: &Slot) -> calendar::Slot {
    calendar::Slot::of(slot.start, slot.end)
}
