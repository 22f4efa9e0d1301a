//! The capability in a world whose calendars are cells that the test draws.

mod bookings;
mod bounds;
mod model;
mod rule;
mod steps;

use crate::AvailabilityFinder;
use people_kit::{calendar, people, relations};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// A full hour: 2027-01-15T08:00:00Z.
pub(crate) const NOW: u64 = 1_800_000_000_000;
pub(crate) const CELL: u64 = 15 * MINUTE;

/// The closed spans of each person, which a test may change between calls.
pub(crate) type Calendars = Rc<RefCell<BTreeMap<String, Vec<(u64, u64)>>>>;

/// The people and the span of each firm reservation.
type Reserved = Rc<RefCell<BTreeMap<String, (Vec<String>, (u64, u64))>>>;

/// Returns the id of a person.
pub(crate) fn person(number: usize) -> String {
    format!("own_01JZX8Q4M2N6P7R8S9T0V1W2{number:02}")
}

/// Returns a world in which everybody exists and accepts messages, with these calendars. A reserved time is
/// closed from then on, and refused if it is closed already.
pub(crate) fn world(calendars: &Calendars) -> World {
    let (read, written, released) = (calendars.clone(), calendars.clone(), calendars.clone());
    let spans: Reserved = Rc::default();
    let firm = spans.clone();
    test::world()
        .of::<AvailabilityFinder>()
        .owner(&person(0))
        .at(NOW)
        .answer_by(people::PEOPLE, |query| {
            let person = |owner_id| {
                json!({
                    "owner_id": owner_id, "active": true, "contact_policy": "anyone_matching",
                })
            };
            let people: Vec<_> = query.owner_ids.into_iter().map(person).collect();
            Ok(people::People::deserialize(json!({ "people": people })).unwrap())
        })
        .answer(relations::ALLOWED, json!({ "allowed": true }))
        .answer_by(relations::HIDDEN, |_| Ok(relations::Hidden { owner_ids: Vec::new() }))
        .answer_by(calendar::CELLS, move |query| {
            let from = time::parse(&query.from).unwrap();
            assert_eq!(from % CELL, 0);
            let row = |owner_id: String| {
                let closed = read.borrow().get(&owner_id).cloned().unwrap_or_default();
                let is_closed = |cell: u64| {
                    let start = from + cell * CELL;
                    closed.iter().any(|(begins, ends)| *begins < start + CELL && start < *ends)
                };
                let cells = 0..u64::from(query.cells);
                let cells = cells.map(|cell| if is_closed(cell) { 'x' } else { '.' }).collect();
                calendar::PersonCells { owner_id, cells }
            };
            Ok(calendar::Cells { people: query.owner_ids.iter().cloned().map(row).collect() })
        })
        .answer_by(calendar::RESERVE, move |reserve: calendar::Reserve| {
            if reserve.kind == calendar::Firmness::Tentative {
                return Ok(());
            }
            let (begins, ends) = reserve.slot.millis().unwrap();
            let mut calendars = written.borrow_mut();
            for owner_id in &reserve.owner_ids {
                let closed = calendars.entry(owner_id.clone()).or_default();
                if closed.iter().any(|(start, end)| *start < ends && begins < *end) {
                    let refusal = Refusal::common(ErrorCode::InvalidTransition, "Taken.");
                    return Err(Refusal { code: "slot_taken".into(), ..refusal });
                }
                closed.push((begins, ends));
            }
            let reserved = (reserve.owner_ids, (begins, ends));
            firm.borrow_mut().insert(reserve.reference, reserved);
            Ok(())
        })
        .answer_by(calendar::RELEASE, move |release: calendar::Release| {
            if let Some((owner_ids, span)) = spans.borrow_mut().remove(&release.reference) {
                for owner_id in owner_ids {
                    let mut calendars = released.borrow_mut();
                    calendars.entry(owner_id).or_default().retain(|closed| *closed != span);
                }
            }
            Ok(())
        })
}

/// Begins a group of the first person with the next ones, of whom all accept. Returns the world with the first
/// person as the caller, and the group's id.
pub(crate) fn group(mut world: World, people: usize, may_book: bool) -> (World, String) {
    let others: Vec<_> = (1..people).map(person).collect();
    let input = json!({ "owner_ids": others, "title": "The plan", "may_book": may_book });
    let group_id = world.call("invite", &input).unwrap()["group_id"].as_str().unwrap().to_owned();
    for other in others {
        world = world.owner(&other);
        world.call("accept", &json!({ "group_id": group_id })).unwrap();
    }
    (world.owner(&person(0)), group_id)
}

/// Returns the instant of this cell after now.
pub(crate) fn at(cell: u64) -> String {
    rfc3339(NOW + cell * CELL)
}

/// Returns the starts of the found times, in cells after now, and how many cannot.
pub(crate) fn found(answer: &Value) -> Vec<(u64, u64)> {
    let items = answer["items"].as_array().unwrap().iter();
    let start = |item: &Value| time::parse(item["start"].as_str().unwrap()).unwrap();
    items.map(|item| ((start(item) - NOW) / CELL, item["cannot"].as_u64().unwrap())).collect()
}

/// A generator of numbers that are the same in each run (xorshift).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns the next number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
