//! The inferences that answers permit: 10,000 questions tell nothing beyond the rule.

use super::{CELL, Calendars, NOW, Numbers, at, found, group, person, world};
use portolan_sdk::{prelude::*, test::World};

/// Returns a random question about a group.
fn question(numbers: &mut Numbers, group_id: &str, from: u64) -> Value {
    let window = MINUTE * (1 + numbers.below(14 * 24 * 60));
    json!({
        "group_id": group_id, "duration_min": 15 * (1 + numbers.below(32)),
        "buffer_before_min": 15 * numbers.below(9), "buffer_after_min": 15 * numbers.below(9),
        "min_notice_min": numbers.below(600), "limit": 1 + numbers.below(10),
        "from": rfc3339(from), "to": rfc3339(from + window),
    })
}

#[test]
fn ten_thousand_questions_tell_nothing_beyond_the_rule() {
    // Two calendars that are closed in the same cells: one to the minute, one in full cells.
    let mut numbers = Numbers(0x5EED_0004);
    let (exact, rounded) = (Calendars::default(), Calendars::default());
    for _ in 0..300 {
        let begins = NOW + numbers.below(120 * 24 * 60) * MINUTE;
        let ends = begins + (1 + numbers.below(300)) * MINUTE;
        let full = (begins / CELL * CELL, ends.div_ceil(CELL) * CELL);
        exact.borrow_mut().entry(person(1)).or_default().push((begins, ends));
        rounded.borrow_mut().entry(person(1)).or_default().push(full);
    }
    let (mut one, group_id) = group(world(&exact), 2, false);
    let (mut other, same_id) = group(world(&rounded), 2, false);
    assert_eq!(group_id, same_id);
    let (mut now, mut answered) = (NOW, Vec::new());
    for _ in 0..10_000 {
        let passed = numbers.below(10 * MINUTE);
        now += passed;
        one.advance(passed);
        other.advance(passed);
        // The group closes after 90 days; 10,000 questions of five minutes take 35.
        let from = now + numbers.below(20 * DAY);
        let asked = question(&mut numbers, &group_id, from);
        let (first, second) = (one.call("find", &asked), other.call("find", &asked));
        // 1. The answer depends only on the closed cells.
        assert_eq!(first.as_ref().ok(), second.as_ref().ok(), "{asked}");
        match first {
            Ok(answer) => {
                // 2. It names at most ten times, on the grid, and nobody.
                let text = answer.to_string();
                assert!(!text.contains("own_") && !text.contains("blk_"), "{text}");
                let items = answer["items"].as_array().unwrap();
                assert!(items.len() <= 10);
                for item in items {
                    let start = time::parse(item["start"].as_str().unwrap()).unwrap();
                    assert!(
                        start.is_multiple_of(CELL) && start >= now && item["cannot"] == 0,
                        "{item}"
                    );
                }
                answered.push(now);
            }
            Err(refusal) => assert_eq!(refusal.code, "quota_exceeded", "{asked}"),
        }
    }
    // 3. No 24 hours have more than 20 answers.
    for (first, last) in answered.iter().zip(answered.iter().skip(20)) {
        assert!(last - first >= DAY);
    }
    assert!(answered.len() > 500, "{}", answered.len());
}

/// Returns a world in which each of these organizers has begun a group with the same person, and the groups' ids.
fn world_of_groups(organizers: std::ops::Range<usize>) -> (World, Vec<Value>) {
    let mut world = world(&Calendars::default());
    let mut groups = Vec::new();
    for organizer in organizers {
        world = world.owner(&person(organizer));
        let invite = json!({ "owner_ids": [person(1)], "title": "One question" });
        groups.push(world.call("invite", &invite).unwrap()["group_id"].clone());
    }
    world = world.owner(&person(1));
    for group_id in &groups {
        world.call("accept", &json!({ "group_id": group_id })).unwrap();
    }
    (world, groups)
}

#[test]
fn a_person_is_asked_about_in_sixty_questions_a_day_by_all_groups_together() {
    let (mut world, groups) = world_of_groups(10..15);
    let mut answered = 0;
    for (organizer, group_id) in (10..15).zip(&groups) {
        world = world.owner(&person(organizer));
        let asked = json!({ "group_id": group_id, "duration_min": 30 });
        let refusal = loop {
            match world.call("find", &asked) {
                Ok(_) => answered += 1,
                Err(refusal) => break refusal,
            }
        };
        // Whether other groups have asked about the person is not told.
        assert_eq!(refusal.conflict.unwrap()["name"], "questions_of_a_group_per_day");
    }
    assert_eq!(answered, 60);
    // The person sees that they were asked, and how often.
    world = world.owner(&person(1));
    let group = world.call("get", &json!({ "group_id": groups[0] })).unwrap();
    assert_eq!(group["asked_today"], 20);
    assert!(group["asked_at"].is_string() && group.get("members").is_none(), "{group}");
    world.advance(DAY);
    world = world.owner(&person(10));
    assert!(world.call("find", &json!({ "group_id": groups[0], "duration_min": 30 })).is_ok());
}

#[test]
fn a_refusal_does_not_tell_which_limit_is_reached() {
    // The last organizer asks once, and an hour later as often as they can.
    let refused = |others: &[usize]| {
        let (mut world, groups) = world_of_groups(10..14);
        let ask = |world: &mut World, number: usize| {
            world.call("find", &json!({ "group_id": groups[number], "duration_min": 30 }))
        };
        world = world.owner(&person(13));
        ask(&mut world, 3).unwrap();
        world.advance(HOUR);
        for (number, questions) in others.iter().enumerate() {
            world = world.owner(&person(10 + number));
            for _ in 0..*questions {
                ask(&mut world, number).unwrap();
            }
        }
        world = world.owner(&person(13));
        let mut answered = 1;
        loop {
            match ask(&mut world, 3) {
                Ok(_) => answered += 1,
                Err(refusal) => break (answered, refusal.code, refusal.conflict),
            }
        }
    };
    let (answered, code, conflict) = refused(&[]);
    assert_eq!(answered, 20);
    assert_eq!(conflict.as_ref().unwrap()["retry_after_s"], 23 * 3600);
    assert_eq!(refused(&[20, 20, 19]), (1, code, conflict));
}

#[test]
fn the_own_calendar_of_an_organizer_is_no_question_about_them() {
    let mut world = world(&Calendars::default());
    let mut answered = 0;
    for other in 1..5 {
        let invite = json!({ "owner_ids": [person(other)], "title": "One question" });
        let group = world.call("invite", &invite).unwrap();
        world = world.owner(&person(other));
        world.call("accept", &json!({ "group_id": group["group_id"] })).unwrap();
        world = world.owner(&person(0));
        let group_id = group["group_id"].as_str().unwrap();
        answered += (0..30).filter(|_| ask(&mut world, group_id, 0).is_ok()).count();
    }
    assert_eq!(answered, 80);
}

#[test]
fn guests_of_a_link_ask_about_its_group() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, true);
    let link = json!({ "title": "A panel", "duration_min": 30, "group_id": group_id });
    let link_id = world.call("create_link", &link).unwrap()["link_id"].clone();
    let asked = json!({ "link_id": link_id });
    // The organizer has the group's questions, and no others by a link.
    assert_eq!(world.call("link_times", &asked).unwrap_err().code, "not_permitted");
    // No guest has all questions, and all guests together have half of them.
    let mut answered = Vec::new();
    for guest in 10..15 {
        world = world.owner(&person(guest));
        answered.push((0..9).filter(|_| world.call("link_times", &asked).is_ok()).count());
    }
    assert_eq!(answered, [4, 4, 2, 0, 0]);
    let book = json!({ "link_id": link_id, "start": at(8) });
    for (guest, name) in
        [(14, "questions_of_a_group_per_day"), (10, "questions_of_a_guest_per_day")]
    {
        world = world.owner(&person(guest));
        let refusal = world.call("book_link", &book).unwrap_err();
        assert_eq!(refusal.code, "quota_exceeded");
        assert_eq!(refusal.conflict.unwrap()["name"], name);
    }
    world = world.owner(&person(2));
    let group = world.call("get", &json!({ "group_id": group_id })).unwrap();
    assert_eq!(group["asked_today"], 10);
    // The other half is the organizer's.
    world = world.owner(&person(0));
    assert_eq!((0..30).filter(|_| ask(&mut world, &group_id, 0).is_ok()).count(), 10);
    world.advance(DAY);
    // Nothing is left for guests after the organizer has asked twenty times.
    assert_eq!((0..30).filter(|_| ask(&mut world, &group_id, 0).is_ok()).count(), 20);
    world = world.owner(&person(14));
    assert_eq!(world.call("link_times", &asked).unwrap_err().code, "quota_exceeded");
}

#[test]
fn a_refused_hold_is_a_question_too() {
    let calendars = Calendars::default();
    calendars.borrow_mut().insert(person(1), vec![(NOW, NOW + 30 * DAY)]);
    let (mut world, group_id) = group(world(&calendars), 2, true);
    let mut taken = 0;
    for cell in 1..200 {
        let action = if cell % 2 == 0 { "hold" } else { "book" };
        let input = json!({ "group_id": group_id, "start": at(cell), "duration_min": 15 });
        let refusal = world.call(action, &input).unwrap_err();
        match refusal.code.as_str() {
            "slot_taken" => taken += 1,
            code => assert_eq!(code, "quota_exceeded"),
        }
    }
    assert_eq!(taken, 20);
    // Nobody was held.
    assert!(world.documents(crate::documents::HELD).is_empty());
}

#[test]
fn a_hold_that_is_refused_for_its_minutes_tells_nothing_of_a_calendar() {
    let refused = |closed: &[(u64, u64)]| {
        let calendars = Calendars::default();
        let (mut world, group_id) = group(world(&calendars), 2, true);
        let hold = |cell: u64, minutes: u64| {
            json!({
                "group_id": group_id, "start": at(cell), "duration_min": 15, "hold_min": minutes,
            })
        };
        let held = world.call("hold", &hold(4, 60)).unwrap();
        world.call("release_hold", &json!({ "hold_id": held["hold_id"] })).unwrap();
        calendars.borrow_mut().insert(person(1), closed.to_vec());
        let refused = (5..205).map(|cell| world.call("hold", &hold(cell, 1)).unwrap_err());
        refused.map(|refusal| (refusal.code, refusal.conflict)).collect::<Vec<_>>()
    };
    let open = refused(&[]);
    assert_eq!(open[0].1.as_ref().unwrap()["name"], "minutes_held_per_person_and_day");
    assert_eq!(open, refused(&[(NOW, NOW + 30 * DAY)]));
}

/// Asks with this many missing people allowed.
fn ask(world: &mut World, group_id: &str, missing: u64) -> Result<Value, Refusal> {
    world.call("find", &json!({
        "group_id": group_id, "duration_min": 15, "from": at(4), "to": at(8), "allow_missing": missing,
    }))
}

#[test]
fn somebody_who_agreed_as_one_of_several_is_not_asked_alone() {
    let calendars = Calendars::default();
    let (mut world, group_id) = group(world(&calendars), 4, false);
    calendars.borrow_mut().insert(person(3), vec![(NOW, NOW + DAY)]);
    // For four people, an answer tells how many cannot; for three, it does not.
    assert_eq!(found(&ask(&mut world, &group_id, 1).unwrap())[0], (4, 1));
    assert_eq!(found(&ask(&mut world, &group_id, 0).unwrap()), []);
    world = world.owner(&person(3));
    world.call("leave", &json!({ "group_id": group_id })).unwrap();
    world = world.owner(&person(0));
    assert_eq!(ask(&mut world, &group_id, 1).unwrap_err().code, "not_enough_people");
    assert_eq!(ask(&mut world, &group_id, 0).unwrap()["people"], 3);
    world = world.owner(&person(2));
    world.call("leave", &json!({ "group_id": group_id })).unwrap();
    world = world.owner(&person(0));
    assert_eq!(ask(&mut world, &group_id, 0).unwrap_err().code, "not_enough_people");
    // A group of two was agreed on by both.
    let (mut pair, group_id) = group(super::world(&calendars), 2, false);
    assert!(ask(&mut pair, &group_id, 0).is_ok());
}

#[test]
fn only_the_organizer_asks_and_only_those_count_who_have_accepted() {
    let calendars = Calendars::default();
    calendars.borrow_mut().insert(person(2), vec![(NOW, NOW + DAY)]);
    let mut world = world(&calendars);
    let invite = json!({ "owner_ids": [person(1), person(2), person(3)], "title": "The plan" });
    let group_id = world.call("invite", &invite).unwrap()["group_id"].as_str().unwrap().to_owned();
    assert_eq!(ask(&mut world, &group_id, 0).unwrap_err().code, "not_enough_people");
    for member in [1, 3] {
        world = world.owner(&person(member));
        world.call("accept", &json!({ "group_id": group_id })).unwrap();
        assert_eq!(ask(&mut world, &group_id, 0).unwrap_err().code, "not_permitted");
    }
    world = world.owner(&person(0));
    let answer = ask(&mut world, &group_id, 0).unwrap();
    assert_eq!((answer["people"].clone(), found(&answer).len()), (json!(3), 4));
    world = world.owner(&person(7));
    assert_eq!(ask(&mut world, &group_id, 0).unwrap_err().code, "group_not_found");
    let read = world.call("get", &json!({ "group_id": group_id }));
    assert_eq!(read.unwrap_err().code, "group_not_found");
}

#[test]
fn somebody_who_is_blocked_counts_as_having_left() {
    let calendars = Calendars::default();
    let (world, group_id) = group(world(&calendars), 4, false);
    let mut world = world
        .answer(people_kit::relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(people_kit::relations::HIDDEN, json!({ "owner_ids": [person(2)] }));
    // The first answer is still that nobody is hidden.
    world.call("get", &json!({ "group_id": group_id })).unwrap();
    world.call("get", &json!({ "group_id": group_id })).unwrap();
    let group = world.call("get", &json!({ "group_id": group_id })).unwrap();
    assert_eq!(group["people"], 3);
    assert_eq!(group["members"][1], json!({ "owner_id": person(2), "answer": "left" }));
    assert_eq!(ask(&mut world, &group_id, 0).unwrap()["people"], 3);
}
