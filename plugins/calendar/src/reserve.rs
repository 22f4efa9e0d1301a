//! Reservations of people's time by other capabilities, and the times that can be reserved.

use crate::{
    busy::{self, closed, millis, range},
    documents::*,
    limits::{LONGEST_RANGE, LONGEST_RESERVATION, MINUTE, STEP},
    refusals::*,
    spans::*,
    types::*,
};
use people_kit::calendar::{AlternativesQuery, Firmness, Free, FreeQuery, Reserve, Slot, Slots};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Reserves the time of all these people, or refuses.
pub(crate) fn reserve(call: &Call, input: Reserve) -> Result<()> {
    let span = slot("", &input.slot)?;
    let owner_ids = distinct(input.owner_ids);
    // The calendars are read before anything is checked, and written at the end: of two concurrent
    // calls that share a person, one runs again and sees the changes of the other.
    let changes = owner_ids.iter().map(|owner_id| Change::of(owner_id));
    let changes = changes.collect::<Result<Vec<_>, _>>()?;
    if input.kind == Firmness::Firm {
        let reference = Some(input.reference.as_str());
        let mut zones = Zones::default();
        let mut busy = Vec::new();
        for owner_id in &owner_ids {
            busy.extend(match input.within_availability {
                true => closed(busy::now(call), &mut zones, owner_id, span, reference)?,
                false => busy::busy_times(&mut zones, owner_id, span, reference)?.busy,
            });
        }
        // The answer contains only the time within the slot itself.
        let busy = busy.into_iter().filter_map(|busy| busy.within(span)).collect();
        let busy: Vec<Slot> = merged(busy).into_iter().map(view).collect();
        if !busy.is_empty() {
            return Err(CalendarError::SlotTaken { busy, slot: view(span) });
        }
    }
    let reservation = Reservation {
        owner_ids,
        kind: input.kind,
        title: input.title,
        title_by: input.title_by,
        begins: span.start,
        ends: span.end,
    };
    RESERVATIONS.put(&input.reference, &reservation, Expect::Any)?;
    changes.into_iter().try_for_each(|change| change.save(0, 0))
}

/// Releases a reservation, if there is one.
pub(crate) fn release(reference: &str) -> Result<()> {
    if RESERVATIONS.get(reference)?.is_some() {
        RESERVATIONS.delete(reference, Expect::Any)?;
    }
    Ok(())
}

/// Returns for each slot whether all the people in `owner_ids` are free in it. The availability of
/// the caller is not considered, because it limits only what others may book.
pub(crate) fn free(call: &Call, input: FreeQuery) -> Result<Free> {
    let slots = input.slots.iter().enumerate();
    let slots = slots.map(|(number, it)| slot(&format!("/slots/{number}"), it));
    let slots = slots.collect::<Result<Vec<Span>, _>>()?;
    let mut zones = Zones::default();
    let mut free = vec![true; slots.len()];
    let excluded = input.reference.as_deref();
    for owner_id in distinct(input.owner_ids) {
        let is_caller = call.owner_id() == Some(owner_id.as_str());
        for window in windows(&slots) {
            let closed = match is_caller {
                true => busy::busy_times(&mut zones, &owner_id, window, excluded)?.busy,
                false => closed(busy::now(call), &mut zones, &owner_id, window, excluded)?,
            };
            for (slot, free) in slots.iter().zip(&mut free) {
                *free &= slot.within(window) != Some(*slot) || !overlaps_any(&closed, *slot);
            }
        }
    }
    Ok(Free { free })
}

/// Returns the ranges to read for the slots: one range for all of them or, if they are far apart,
/// one for each.
fn windows(slots: &[Span]) -> Vec<Span> {
    let start = slots.iter().map(|slot| slot.start).min().unwrap_or(0);
    let end = slots.iter().map(|slot| slot.end).max().unwrap_or(0);
    match end - start <= LONGEST_RANGE {
        true => vec![Span::new(start, end)],
        false => slots.to_vec(),
    }
}

/// Returns the earliest slots that are not in the past and in which all the people in `owner_ids`
/// are free and available.
pub(crate) fn alternatives(call: &Call, input: AlternativesQuery) -> Result<Slots> {
    let range = range(&input.from, &input.to)?;
    let mut zones = Zones::default();
    // The past cannot be booked.
    let mut closed_to_all = vec![Span::new(i64::MIN, busy::now(call))];
    for owner_id in distinct(input.owner_ids) {
        closed_to_all.extend(closed(busy::now(call), &mut zones, &owner_id, range, None)?);
    }
    let open = gaps(range, &merged(closed_to_all));
    let most = usize::try_from(input.limit).unwrap_or(usize::MAX);
    let found = fitting(&open, i64::from(input.duration_min) * MINUTE, most);
    Ok(Slots { slots: found.into_iter().map(view).collect() })
}

/// Returns the first slots of this length that begin at quarters of an hour and do not overlap.
fn fitting(open: &[Span], length: i64, most: usize) -> Vec<Span> {
    let mut found = Vec::new();
    for span in open {
        let mut start = span.start + (-span.start).rem_euclid(STEP);
        while start + length <= span.end && found.len() < most {
            found.push(Span::new(start, start + length));
            start += length + (-length).rem_euclid(STEP);
        }
    }
    found
}

fn slot(pointer: &str, slot: &Slot) -> Result<Span> {
    let start = millis(&format!("{pointer}/start"), &slot.start)?;
    let end = millis(&format!("{pointer}/end"), &slot.end)?;
    if end <= start || end - start > LONGEST_RESERVATION {
        let pointer = format!("{pointer}/end");
        let expected = "a time after the start, and at most a day later";
        return Err(CalendarError::validation(&pointer, "after_start", expected));
    }
    Ok(Span::new(start, end))
}

fn view(span: Span) -> Slot {
    let millis = |at: i64| u64::try_from(at).unwrap_or(0);
    Slot::of(millis(span.start), millis(span.end))
}

pub(crate) fn distinct(owner_ids: Vec<String>) -> Vec<String> {
    owner_ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_begin_at_full_quarters() {
        let found = |open: &[(i64, i64)], length: i64, most| {
            let open: Vec<_> =
                open.iter().map(|(from, to)| Span::new(from * MINUTE, to * MINUTE)).collect();
            let found = fitting(&open, length * MINUTE, most);
            found.iter().map(|slot| (slot.start / MINUTE, slot.end / MINUTE)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[(0, 60)], 30, 9), [(0, 30), (30, 60)]);
        assert_eq!(found(&[(1, 60)], 30, 9), [(15, 45)]);
        assert_eq!(found(&[(0, 50), (60, 100)], 20, 9), [(0, 20), (30, 50), (60, 80)]);
        assert_eq!(found(&[(0, 600)], 15, 2), [(0, 15), (15, 30)]);
        assert_eq!(found(&[(50, 70)], 30, 2), []);
    }
}
