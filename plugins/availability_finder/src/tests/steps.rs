//! Invitations, holds and polls.

use super::{Calendars, at, found, group, person, world};
use crate::documents::{GROUPS, HOLDS, POLLS};
use people_kit::relations;
use portolan_sdk::{prelude::*, test::World};

#[test]
fn invitations_are_told_and_answered() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, false);
    let told: Vec<_> = world.events().into_iter().map(|event| event.event_type).collect();
    let invited = ["availability.invited"; 2];
    assert_eq!(told, [&invited[..], &["availability.answered"; 2]].concat());
    let input = json!({ "group_id": group_id });
    // The organizer cannot answer, and nobody accepts twice.
    assert_eq!(world.call("accept", &input).unwrap_err().code, "not_permitted");
    world = world.owner(&person(1));
    assert_eq!(world.call("accept", &input).unwrap_err().code, "invalid_transition");
    assert_eq!(world.call("decline", &input).unwrap_err().code, "invalid_transition");
    assert_eq!(world.call("leave", &input).unwrap()["allowed_actions"], json!(["accept"]));
    assert_eq!(world.call("close", &input).unwrap_err().code, "not_permitted");
    world = world.owner(&person(0));
    let list = world.call("list", &json!({ "state": "open" })).unwrap();
    assert_eq!(list["items"][0]["people"], 2);
    world.call("close", &input).unwrap();
    assert_eq!(
        world.call("find", &json!({ "group_id": group_id, "duration_min": 15 })).unwrap_err().code,
        "invalid_transition"
    );
    world = world.system();
    world.call("expire", &input).unwrap();
    assert!(world.documents(GROUPS).is_empty());
    world.call("expire", &input).unwrap();
}

#[test]
fn people_who_accept_no_messages_are_not_invited() {
    let mut world =
        world(&Calendars::default()).answer(relations::ALLOWED, json!({ "allowed": false }));
    let input = json!({ "owner_ids": [person(1), person(2)], "title": "The plan" });
    let refusal = world.call("invite", &input).unwrap_err();
    assert_eq!(refusal.code, "recipient_not_accepting");
    assert_eq!(refusal.conflict.unwrap()["errors"][0]["pointer"], "/owner_ids/1");
    for people in [vec![person(0)], vec![person(1), person(1)]] {
        let input = json!({ "owner_ids": people, "title": "The plan" });
        assert_eq!(world.call("invite", &input).unwrap_err().code, "validation_failed");
    }
}

#[test]
fn a_hold_blocks_the_time_until_it_ends() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, true);
    let asked = json!({
        "group_id": group_id, "duration_min": 30, "from": at(4), "to": at(8), "limit": 10,
    });
    assert_eq!(found(&world.call("find", &asked).unwrap()), [(4, 0), (6, 0)]);
    let hold = |cell: u64| json!({ "group_id": group_id, "start": at(cell), "duration_min": 30 });
    let held = world.call("hold", &hold(4)).unwrap();
    assert_eq!(found(&world.call("find", &asked).unwrap()), [(6, 0)]);
    assert_eq!(world.call("hold", &hold(5)).unwrap_err().code, "slot_taken");
    // Another group with one of these people does not find the time either.
    let (mut world, other_id) = {
        let mut world = world.owner(&person(9));
        let input = json!({ "owner_ids": [person(2)], "title": "Another plan" });
        let other = world.call("invite", &input).unwrap()["group_id"].as_str().unwrap().to_owned();
        let mut world = world.owner(&person(2));
        world.call("accept", &json!({ "group_id": other })).unwrap();
        (world.owner(&person(9)), other)
    };
    let theirs = |group_id: &str| {
        json!({
            "group_id": group_id, "duration_min": 30, "from": at(4), "to": at(8), "limit": 10,
        })
    };
    assert_eq!(found(&world.call("find", &theirs(&other_id)).unwrap()), [(6, 0)]);
    assert_eq!(
        world.call("release_hold", &json!({ "hold_id": held["hold_id"] })).unwrap_err().code,
        "hold_not_found"
    );
    // It ends when its time has passed, also if the timer is late.
    world.advance(5 * MINUTE);
    assert_eq!(found(&world.call("find", &theirs(&other_id)).unwrap()), [(4, 0), (6, 0)]);
    let timer = world.timers().into_iter().find(|timer| timer.action == "expire_hold").unwrap();
    world = world.system();
    world.call("expire_hold", &timer.input).unwrap();
    assert!(world.documents(HOLDS).is_empty());
    assert!(world.asked().iter().any(|asked| asked.action == "release"));
    // One that is released is free at once.
    world = world.owner(&person(0));
    let held = world.call("hold", &hold(4)).unwrap();
    world.call("release_hold", &json!({ "hold_id": held["hold_id"] })).unwrap();
    assert_eq!(found(&world.call("find", &asked).unwrap()), [(4, 0), (6, 0)]);
}

/// Returns a world in which these two people have blocked each other.
fn world_with_block(first: usize, last: usize) -> World {
    world(&Calendars::default()).answer_by(relations::HIDDEN, move |query| {
        let is_one = |owner_id: &String| *owner_id == person(first) || *owner_id == person(last);
        let hidden = query.owner_ids.into_iter().filter(|owner_id| {
            is_one(&query.viewer_id) && is_one(owner_id) && *owner_id != query.viewer_id
        });
        Ok(relations::Hidden { owner_ids: hidden.collect() })
    })
}

#[test]
fn people_who_have_blocked_each_other_are_neither_booked_nor_polled_together() {
    let (mut world, group_id) = group(world_with_block(1, 2), 5, true);
    let book = json!({ "group_id": group_id, "start": at(4), "duration_min": 30 });
    assert_eq!(world.call("book", &book).unwrap_err().code, "slot_taken");
    let link = json!({ "title": "A panel", "duration_min": 30, "group_id": group_id });
    let link_id = world.call("create_link", &link).unwrap()["link_id"].clone();
    let open = json!({
        "group_id": group_id, "starts": [at(8), at(12)], "duration_min": 30, "closes_at": at(2),
    });
    assert_eq!(world.call("open_poll", &open).unwrap()["voters"], 3);
    assert_eq!(world.documents(POLLS)[0].value.voters, [0, 3, 4].map(person));
    world = world.owner(&person(8));
    let book = json!({ "link_id": link_id, "start": at(4) });
    assert_eq!(world.call("book_link", &book).unwrap_err().code, "slot_taken");
}

#[test]
fn nobody_is_held_who_has_only_agreed_to_be_asked_or_for_more_than_an_hour_a_day() {
    let hold = |group_id: &str, cell: u64, hold_min: u64| {
        json!({
            "group_id": group_id, "start": at(cell), "duration_min": 15, "hold_min": hold_min,
        })
    };
    let (mut world, asked) = group(world(&Calendars::default()), 2, false);
    assert_eq!(world.call("hold", &hold(&asked, 4, 5)).unwrap_err().code, "booking_not_agreed");
    let (mut world, first) = group(world, 2, true);
    world.call("hold", &hold(&first, 4, 20)).unwrap();
    let (mut world, second) = group(world, 3, true);
    world.call("hold", &hold(&second, 8, 40)).unwrap();
    let refusal = world.call("hold", &hold(&second, 12, 1)).unwrap_err();
    assert_eq!(refusal.conflict.unwrap()["name"], "minutes_held_per_person_and_day");
    world.advance(DAY);
    world.call("hold", &hold(&second, 200, 60)).unwrap();
}

#[test]
fn holds_end_when_somebody_leaves_the_group_closes_or_two_block_each_other() {
    let hold = |group_id: &str, cell: u64| json!({ "group_id": group_id, "start": at(cell), "duration_min": 15, "hold_min": 5 });
    let (mut world, group_id) = group(world(&Calendars::default()), 4, true);
    let of_group = json!({ "group_id": group_id });
    world.call("hold", &hold(&group_id, 4)).unwrap();
    world = world.owner(&person(3));
    world.call("leave", &of_group).unwrap();
    assert!(world.documents(HOLDS).is_empty());
    world = world.owner(&person(0));
    world.call("hold", &hold(&group_id, 4)).unwrap();
    world = world.system();
    world.call("part", &json!({ "owner_ids": [person(1), person(7)] })).unwrap();
    assert_eq!(world.documents(HOLDS).len(), 1);
    world.call("part", &json!({ "owner_ids": [person(1), person(2)] })).unwrap();
    assert!(world.documents(HOLDS).is_empty());
    world = world.owner(&person(0));
    world.call("hold", &hold(&group_id, 4)).unwrap();
    world.call("close", &of_group).unwrap();
    assert!(world.documents(HOLDS).is_empty());
}

#[test]
fn who_declines_is_not_invited_again_for_a_month() {
    let mut world = world(&Calendars::default());
    let invite = json!({ "owner_ids": [person(1)], "title": "The plan" });
    let group_id = world.call("invite", &invite).unwrap()["group_id"].clone();
    world = world.owner(&person(1));
    world.call("decline", &json!({ "group_id": group_id })).unwrap();
    // Another answer within the hour is not told.
    world.call("accept", &json!({ "group_id": group_id })).unwrap();
    world.call("leave", &json!({ "group_id": group_id })).unwrap();
    let told = world.events().into_iter();
    let told = told.filter(|event| event.event_type == "availability.answered");
    assert_eq!(told.count(), 1);
    world = world.owner(&person(0));
    let group_id = world.call("invite", &invite).unwrap()["group_id"].clone();
    world = world.owner(&person(1));
    world.call("decline", &json!({ "group_id": group_id })).unwrap();
    world = world.owner(&person(0));
    let refusal = world.call("invite", &invite).unwrap_err();
    assert_eq!(refusal.conflict.unwrap()["errors"][0]["rule"], "declined");
    world.advance(30 * DAY);
    world.call("invite", &invite).unwrap();
}

#[test]
fn times_off_the_grid_are_refused() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, true);
    for (start, duration_min) in
        [(rfc3339(super::NOW + 7 * MINUTE), 30), (at(4), 20), (rfc3339(super::NOW - DAY), 30)]
    {
        for action in ["hold", "book"] {
            let input =
                json!({ "group_id": group_id, "start": start, "duration_min": duration_min });
            let refusal = world.call(action, &input).unwrap_err();
            assert_eq!(refusal.code, "validation_failed", "{input}");
        }
    }
    let input = json!({ "group_id": group_id, "duration_min": 30, "buffer_after_min": 5 });
    assert_eq!(world.call("find", &input).unwrap_err().code, "validation_failed");
}

#[test]
fn the_time_of_a_poll_is_the_one_with_the_fewest_who_cannot() {
    let (mut world, group_id) = group(world(&Calendars::default()), 3, false);
    let open = json!({
        "group_id": group_id, "starts": [at(12), at(4), at(8)], "duration_min": 30, "closes_at": at(96),
    });
    let poll_id = world.call("open_poll", &open).unwrap()["poll_id"].clone();
    let vote = |answers: [&str; 3]| json!({ "poll_id": poll_id, "answers": answers });
    world.call("vote", &vote(["yes", "yes", "no"])).unwrap();
    // A vote is changed by voting again.
    world.call("vote", &vote(["no", "yes", "yes"])).unwrap();
    world = world.owner(&person(1));
    let poll = world.call("vote", &vote(["yes", "if_needed", "yes"])).unwrap();
    assert_eq!((&poll["state"], &poll["voted"]), (&json!("open"), &json!(2)));
    assert!(poll["options"][0].get("yes").is_none(), "counts before the end tell who votes what");
    assert_eq!(
        world
            .call("vote", &json!({ "poll_id": poll_id, "answers": ["yes", "no"] }))
            .unwrap_err()
            .code,
        "validation_failed"
    );
    world = world.owner(&person(2));
    let poll = world.call("vote", &vote(["yes", "if_needed", "yes"])).unwrap();
    assert_eq!((&poll["state"], &poll["chosen"]["start"]), (&json!("closed"), &json!(at(12))));
    assert_eq!((&poll["chosen"]["yes"], &poll["chosen"]["no"]), (&json!(3), &json!(0)));
    assert!(!poll.to_string().contains(&person(1)), "who has voted what is not told: {poll}");
    assert_eq!(
        world.call("vote", &vote(["yes", "yes", "yes"])).unwrap_err().code,
        "invalid_transition"
    );
    let closed =
        world.events().into_iter().filter(|event| event.event_type == "availability.poll_closed");
    assert_eq!(closed.count(), 3);
}

#[test]
fn a_poll_closes_at_its_deadline() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, false);
    let open = json!({
        "group_id": group_id, "starts": [at(8), at(12)], "duration_min": 30, "closes_at": at(2),
    });
    let poll_id = world.call("open_poll", &open).unwrap()["poll_id"].clone();
    let vote = json!({ "poll_id": poll_id, "answers": ["if_needed", "yes"] });
    world.call("vote", &vote).unwrap();
    world.advance(HOUR);
    // Its timer is late.
    assert_eq!(world.call("vote", &vote).unwrap_err().code, "invalid_transition");
    world = world.system();
    for _ in 0..2 {
        world.call("end_poll", &json!({ "poll_id": poll_id })).unwrap();
    }
    let poll = world.documents(POLLS).remove(0).value;
    assert_eq!(poll.chosen.map(rfc3339), Some(at(12)));
    world = world.owner(&person(1));
    assert_eq!(
        world.call("close_poll", &json!({ "poll_id": poll_id })).unwrap_err().code,
        "not_permitted"
    );
}
