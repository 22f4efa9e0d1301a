//! Bookings of groups and by links.

use super::{Calendars, NOW, at, found, group, person, world};
use portolan_sdk::{prelude::*, test::World};
use std::collections::BTreeSet;

fn book(world: &mut World, group_id: &str, cell: u64, mode: &str) -> Result<Value, Refusal> {
    let input =
        json!({ "group_id": group_id, "start": at(cell), "duration_min": 30, "mode": mode });
    world.call("book", &input)
}

#[test]
fn a_collective_booking_needs_all() {
    let calendars = Calendars::default();
    let (mut world, group_id) = group(world(&calendars), 3, true);
    let booked = book(&mut world, &group_id, 4, "collective").unwrap();
    assert_eq!(booked["attendees"].as_array().unwrap().len(), 3);
    let told = world.events().into_iter().filter(|event| event.event_type == "availability.booked");
    assert_eq!(told.count(), 2);
    let refusal = book(&mut world, &group_id, 5, "collective").unwrap_err();
    assert_eq!(refusal.code, "slot_taken");
    assert!(!refusal.conflict.unwrap().to_string().contains("own_"));
    // Each attendee may cancel, and the time is free again.
    world = world.owner(&person(2));
    let cancel = json!({ "booking_id": booked["booking_id"] });
    assert_eq!(world.call("cancel_booking", &cancel).unwrap()["state"], "cancelled");
    assert_eq!(world.call("cancel_booking", &cancel).unwrap_err().code, "invalid_transition");
    world = world.owner(&person(5));
    assert_eq!(world.call("cancel_booking", &cancel).unwrap_err().code, "booking_not_found");
    world = world.owner(&person(0));
    book(&mut world, &group_id, 5, "collective").unwrap();
}

#[test]
fn nobody_is_booked_who_has_only_agreed_to_be_asked() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, false);
    let refusal = book(&mut world, &group_id, 4, "collective").unwrap_err();
    assert_eq!(refusal.code, "booking_not_agreed");
}

#[test]
fn a_booking_replaces_its_hold() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, true);
    let hold = json!({ "group_id": group_id, "start": at(4), "duration_min": 30 });
    let hold_id = world.call("hold", &hold).unwrap()["hold_id"].clone();
    assert_eq!(book(&mut world, &group_id, 4, "collective").unwrap_err().code, "slot_taken");
    let mut with_hold = hold;
    with_hold["hold_id"] = hold_id;
    world.call("book", &with_hold).unwrap();
    assert!(world.documents(crate::documents::HOLDS).is_empty());
    assert_eq!(world.call("book", &with_hold).unwrap_err().code, "hold_not_found");
}

#[test]
fn in_turn_the_one_with_the_fewest_bookings_is_booked() {
    let calendars = Calendars::default();
    let (mut world, group_id) = group(world(&calendars), 4, true);
    // The third person is away on the first day.
    calendars.borrow_mut().insert(person(3), vec![(NOW, NOW + DAY)]);
    let mut hosts = |cells: &[u64]| {
        let mut hosts = Vec::new();
        for cell in cells {
            let booked = book(&mut world, &group_id, *cell, "round_robin").unwrap();
            assert_eq!(booked["attendees"].as_array().unwrap().len(), 2);
            hosts.push(booked["host"].as_str().unwrap().to_owned());
        }
        hosts.sort_unstable();
        hosts
    };
    assert_eq!(hosts(&[4, 8]), [1, 2].map(person));
    assert_eq!(hosts(&[100]), [3].map(person));
    assert_eq!(hosts(&[104, 108, 112]), [1, 2, 3].map(person));
}

#[test]
fn of_those_with_as_many_bookings_one_is_drawn_by_lot() {
    let mut hosts = BTreeSet::new();
    for seed in 0..30 {
        let (mut world, group_id) = group(world(&Calendars::default()).seed(seed), 3, true);
        let booked = book(&mut world, &group_id, 4, "round_robin").unwrap();
        hosts.insert(booked["host"].as_str().unwrap().to_owned());
    }
    assert_eq!(hosts, BTreeSet::from([1, 2].map(person)));
}

#[test]
fn a_turn_stays_used_if_the_one_who_booked_cancels() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, true);
    let first = book(&mut world, &group_id, 4, "round_robin").unwrap();
    world.call("cancel_booking", &json!({ "booking_id": first["booking_id"] })).unwrap();
    let second = book(&mut world, &group_id, 4, "round_robin").unwrap();
    assert_ne!(second["host"], first["host"]);
    // The host gives the turn back by cancelling, and is next again.
    world = world.owner(second["host"].as_str().unwrap());
    world.call("cancel_booking", &json!({ "booking_id": second["booking_id"] })).unwrap();
    world = world.owner(&person(0));
    let third = book(&mut world, &group_id, 4, "round_robin").unwrap();
    assert_eq!(third["host"], second["host"]);
}

#[test]
fn a_booking_is_deleted_long_after_its_end() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, true);
    book(&mut world, &group_id, 4, "collective").unwrap();
    let mut timers = world.timers().into_iter();
    let timer = timers.find(|timer| timer.action == "expire_booking").unwrap();
    assert_eq!(timer.at, NOW + HOUR + 30 * MINUTE + 90 * DAY);
    world = world.system();
    for _ in 0..2 {
        world.call("expire_booking", &timer.input).unwrap();
        assert!(world.documents(crate::documents::BOOKINGS).is_empty());
    }
}

#[test]
fn the_bookings_of_people_who_cannot_meet_are_cancelled() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, true);
    for cell in 0..6 {
        book(&mut world, &group_id, 4 + 4 * cell, "collective").unwrap();
    }
    world = world.system();
    let people = json!({ "owner_ids": [person(0), person(1)] });
    world.call("part", &people).unwrap();
    assert!(world.timers().iter().any(|timer| timer.action == "part"));
    world.call("part", &people).unwrap();
    world = world.owner(&person(1));
    let list = world.call("list_bookings", &json!({ "state": "confirmed" })).unwrap();
    assert_eq!(list["items"], json!([]));
}

/// Creates a link of the first person with these terms, and returns its id.
fn link(world: &mut World, terms: Value) -> String {
    let mut input = json!({ "title": "A first call", "duration_min": 30 });
    input.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    world.call("create_link", &input).unwrap()["link_id"].as_str().unwrap().to_owned()
}

fn times(world: &mut World, link_id: &str, from: u64, to: u64) -> Vec<(u64, u64)> {
    let input = json!({ "link_id": link_id, "from": at(from), "to": at(to), "limit": 10 });
    found(&world.call("link_times", &input).unwrap())
}

fn by_link(world: &mut World, link_id: &str, cell: u64) -> Result<Value, Refusal> {
    world.call("book_link", &json!({ "link_id": link_id, "start": at(cell) }))
}

#[test]
fn a_link_has_limits_buffers_and_notice() {
    let calendars = Calendars::default();
    let mut world = world(&calendars);
    // Now is 08:00 in UTC: the day has 64 more cells.
    let terms = json!({
        "buffer_after_min": 15, "min_notice_min": 55, "most_per_person": 2, "most_per_day": 3,
        "most_bookings": 4, "horizon_days": 3,
    });
    let link_id = link(&mut world, terms);
    calendars.borrow_mut().insert(person(0), vec![(NOW + 2 * HOUR, NOW + 20 * HOUR)]);
    assert_eq!(by_link(&mut world, &link_id, 4).unwrap_err().code, "not_permitted");
    world = world.owner(&person(1));
    // From nine, and with a quarter of an hour before ten.
    assert_eq!(times(&mut world, &link_id, 1, 12), [(4, 0)]);
    assert_eq!(by_link(&mut world, &link_id, 2).unwrap_err().code, "slot_taken");
    assert_eq!(by_link(&mut world, &link_id, 6).unwrap_err().code, "slot_taken");
    calendars.borrow_mut().clear();
    assert_eq!(by_link(&mut world, &link_id, 96 * 3).unwrap_err().code, "slot_taken");
    by_link(&mut world, &link_id, 4).unwrap();
    let second = by_link(&mut world, &link_id, 8).unwrap();
    let refusal = by_link(&mut world, &link_id, 12).unwrap_err();
    let conflict = refusal.conflict.unwrap();
    assert_eq!(conflict["name"], "bookings_of_a_person", "{}", refusal.code);
    world = world.owner(&person(2));
    by_link(&mut world, &link_id, 12).unwrap();
    let refusal = by_link(&mut world, &link_id, 16).unwrap_err();
    assert_eq!(refusal.conflict.unwrap()["name"], "bookings_of_a_day");
    // The next day begins at cell 64.
    assert_eq!(times(&mut world, &link_id, 16, 70), [(64, 0), (66, 0), (68, 0)]);
    by_link(&mut world, &link_id, 64).unwrap();
    world = world.owner(&person(3));
    assert_eq!(times(&mut world, &link_id, 100, 110), []);
    let refusal = by_link(&mut world, &link_id, 100).unwrap_err();
    assert_eq!(refusal.conflict.unwrap()["name"], "bookings_of_a_link");
    // A cancelled booking does not count for the link.
    world = world.owner(&person(0));
    world.call("cancel_booking", &json!({ "booking_id": second["booking_id"] })).unwrap();
    world = world.owner(&person(3));
    by_link(&mut world, &link_id, 100).unwrap();
    world = world.owner(&person(0));
    let own = world.call("get_link", &json!({ "link_id": link_id })).unwrap();
    assert_eq!(own["booked"], 4);
    world.call("close_link", &json!({ "link_id": link_id })).unwrap();
    world = world.owner(&person(4));
    assert_eq!(by_link(&mut world, &link_id, 104).unwrap_err().code, "invalid_transition");
}

#[test]
fn the_bookings_of_a_guest_count_for_a_month_also_when_they_are_cancelled() {
    let mut world = world(&Calendars::default());
    let link_id = link(&mut world, json!({ "horizon_days": 60 }));
    world = world.owner(&person(1));
    let booked = by_link(&mut world, &link_id, 4).unwrap();
    world.call("cancel_booking", &json!({ "booking_id": booked["booking_id"] })).unwrap();
    let refusal = by_link(&mut world, &link_id, 8).unwrap_err();
    assert_eq!(refusal.conflict.unwrap()["name"], "bookings_of_a_person");
    world.advance(30 * DAY);
    by_link(&mut world, &link_id, 31 * 96).unwrap();
}

#[test]
fn the_last_slot_of_a_link_goes_to_one() {
    let mut world = world(&Calendars::default());
    let link_id = link(&mut world, json!({}));
    world = world.owner(&person(1));
    by_link(&mut world, &link_id, 4).unwrap();
    world = world.owner(&person(2));
    let refusal = by_link(&mut world, &link_id, 4).unwrap_err();
    assert_eq!(refusal.code, "slot_taken");
    // Nor does a guest book over something in their own calendar.
    let calendars = Calendars::default();
    calendars.borrow_mut().insert(person(1), vec![(NOW, NOW + DAY)]);
    let mut world = super::world(&calendars);
    let link_id = link(&mut world, json!({}));
    world = world.owner(&person(1));
    assert_eq!(by_link(&mut world, &link_id, 4).unwrap_err().code, "slot_taken");
    assert!(world.documents(crate::documents::BOOKINGS).is_empty());
}

#[test]
fn a_link_of_a_group_books_in_turn() {
    let calendars = Calendars::default();
    let (mut world, group_id) = group(world(&calendars), 3, true);
    let terms = json!({ "group_id": group_id, "mode": "round_robin", "most_per_person": 9 });
    let link_id = link(&mut world, terms);
    calendars.borrow_mut().insert(person(0), vec![(NOW, NOW + 10 * DAY)]);
    calendars.borrow_mut().insert(person(1), vec![(NOW + 2 * HOUR, NOW + 10 * DAY)]);
    calendars
        .borrow_mut()
        .insert(person(2), vec![(NOW, NOW + HOUR), (NOW + 3 * HOUR, NOW + 10 * DAY)]);
    world = world.owner(&person(8));
    // A time suits if one of them is free in all of it.
    assert_eq!(times(&mut world, &link_id, 1, 20), [1, 3, 5, 7, 9].map(|cell| (cell, 0)));
    let hosts = [6, 8].map(|cell| by_link(&mut world, &link_id, cell).unwrap()["host"].clone());
    assert!(hosts[0] == person(1) || hosts[0] == person(2), "{hosts:?}");
    assert_eq!(hosts[1], person(2));
    // Nobody is left.
    assert_eq!(by_link(&mut world, &link_id, 8).unwrap_err().code, "slot_taken");
    world = world.owner(&person(0));
    world.call("close", &json!({ "group_id": group_id })).unwrap();
    world = world.owner(&person(8));
    assert_eq!(by_link(&mut world, &link_id, 4).unwrap_err().code, "link_not_found");
}

#[test]
fn a_guest_asks_forty_times_a_day() {
    let mut world = world(&Calendars::default());
    let link_id = link(&mut world, json!({}));
    world = world.owner(&person(1));
    let input = json!({ "link_id": link_id });
    let answered = (0..100).filter(|_| world.call("link_times", &input).is_ok()).count();
    assert_eq!(answered, 40);
}
