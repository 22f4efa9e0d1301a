//! The limits of what a person begins, and the end of what is kept.

use super::{Calendars, NOW, at, group, person, world};
use crate::documents::{GROUPS, LINKS, POLLS};
use portolan_sdk::{prelude::*, test::World};

fn open_poll(world: &mut World, group_id: &str) -> Result<Value, Refusal> {
    let open = json!({
        "group_id": group_id, "starts": [at(200), at(204)], "duration_min": 30, "closes_at": at(150),
    });
    world.call("open_poll", &open)
}

#[test]
fn a_person_opens_ten_polls_a_day() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, false);
    for _ in 0..10 {
        let poll = open_poll(&mut world, &group_id).unwrap();
        world.call("close_poll", &json!({ "poll_id": poll["poll_id"] })).unwrap();
    }
    let refusal = open_poll(&mut world, &group_id).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
    assert_eq!(refusal.conflict.unwrap()["name"], "polls_per_day");
    world.advance(DAY);
    open_poll(&mut world, &group_id).unwrap();
}

#[test]
fn many_polls_are_deleted_with_their_group_in_several_runs() {
    let (mut world, group_id) = group(world(&Calendars::default()), 2, false);
    open_poll(&mut world, &group_id).unwrap();
    let poll = world.documents(POLLS).remove(0).value;
    for number in 1..150 {
        world = world.document(POLLS, &format!("poll_{number}"), &poll);
    }
    let of_group = json!({ "group_id": group_id });
    world.call("close", &of_group).unwrap();
    world = world.system();
    world.call("expire", &of_group).unwrap();
    assert_eq!((world.documents(POLLS).len(), world.documents(GROUPS).len()), (50, 1));
    let timer = world.timers().into_iter().find(|timer| timer.action == "expire").unwrap();
    assert_eq!(timer.at, NOW);
    world.call("expire", &timer.input).unwrap();
    assert_eq!((world.documents(POLLS).len(), world.documents(GROUPS).len()), (0, 0));
}

#[test]
fn a_person_creates_twenty_links_a_day_and_a_closed_one_is_deleted_a_month_later() {
    let mut world = world(&Calendars::default());
    let link = json!({ "title": "A first call", "duration_min": 30 });
    let open = world.call("create_link", &link).unwrap();
    for _ in 1..20 {
        let created = world.call("create_link", &link).unwrap();
        world.call("close_link", &json!({ "link_id": created["link_id"] })).unwrap();
    }
    let refusal = world.call("create_link", &link).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
    assert_eq!(refusal.conflict.unwrap()["name"], "links_per_day");
    let timers = world.timers().into_iter();
    let timers: Vec<_> = timers.filter(|timer| timer.action == "expire_link").collect();
    assert_eq!(timers.len(), 19);
    world = world.system();
    for timer in timers {
        assert_eq!(timer.at, NOW + 30 * DAY);
        world.call("expire_link", &timer.input).unwrap();
    }
    // One that is open stays.
    world.call("expire_link", &json!({ "link_id": open["link_id"] })).unwrap();
    let left: Vec<_> = world.documents(LINKS).into_iter().map(|link| link.id).collect();
    assert_eq!(json!(left), json!([open["link_id"]]));
}

#[test]
fn who_has_not_answered_is_not_invited_again_and_again() {
    let mut world = world(&Calendars::default());
    let input = json!({ "owner_ids": [person(2), person(1)], "title": "The plan" });
    let rule = |refusal: Refusal| {
        assert_eq!(refusal.code, "recipient_not_accepting");
        let errors = refusal.conflict.unwrap()["errors"].clone();
        let rules = errors.as_array().unwrap().iter().map(|error| error["rule"].clone());
        rules.collect::<Vec<_>>()
    };
    for _ in 0..2 {
        let group = world.call("invite", &input).unwrap();
        assert_eq!(rule(world.call("invite", &input).unwrap_err()), ["invited", "invited"]);
        world.call("close", &json!({ "group_id": group["group_id"] })).unwrap();
    }
    assert_eq!(rule(world.call("invite", &input).unwrap_err()), ["unanswered", "unanswered"]);
    // Another person may still invite them.
    world = world.owner(&person(3));
    world.call("invite", &input).unwrap();
    world = world.owner(&person(0));
    world.advance(30 * DAY);
    world.call("invite", &input).unwrap();
}
