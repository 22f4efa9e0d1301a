//! The rate of subscriptions, and readings that fail.

use super::*;
use crate::CalendarCapability;
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

fn world() -> World {
    test::world().of::<CalendarCapability>().at("2026-11-01T09:00:00Z")
}

/// Subscribes to a calendar, and returns the subscription's id.
fn subscribed(world: &mut World) -> Result<String, Refusal> {
    let made = world.call("subscribe", &json!({ "url": "https://calendar.example/a.ics" }))?;
    Ok(made["subscription_id"].as_str().unwrap().to_owned())
}

fn poll(world: &mut World, id: &str) -> Subscription {
    world.call("poll_subscription", &json!({ "subscription_id": id })).unwrap();
    world.get(SUBSCRIPTIONS, id).unwrap().value
}

#[test]
fn a_person_who_ends_subscriptions_subscribes_ten_times_a_day() {
    let mut world = world();
    for _ in 0..10 {
        let id = subscribed(&mut world).unwrap();
        world.call("unsubscribe", &json!({ "subscription_id": id })).unwrap();
    }
    let refused = subscribed(&mut world).unwrap_err();
    assert_eq!(refused.code, "quota_exceeded");
    assert_eq!(world.lookups().len(), 10);
    world.advance(time::DAY);
    assert!(subscribed(&mut world).is_ok());
}

#[test]
fn a_reading_whose_answer_never_came_has_failed() {
    let mut world = world();
    let id = subscribed(&mut world).unwrap();
    world.advance(time::DAY);
    let mut world = world.system();
    let lost = poll(&mut world, &id);
    assert_eq!(lost.state, SubscriptionState::Failing);
    let problem = "The last reading could not be taken into the calendar.";
    assert_eq!((lost.problem.as_deref(), lost.lookup_id), (Some(problem), None));
    assert_eq!(world.lookups().len(), 1);
    assert!(poll(&mut world, &id).lookup_id.is_some());
    assert_eq!(world.lookups().len(), 2);
    world.advance(14 * time::DAY);
    assert_eq!(poll(&mut world, &id).state, SubscriptionState::Failed);
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].event_type, "calendar.subscription_failed");
}

#[test]
fn a_problem_names_the_step_that_helps() {
    for (error, status, step) in [
        ("The server answers with the status 404.", Some(404), "404. The address may have been"),
        ("The server answers with the status 500.", Some(500), "500."),
        ("The server answers with a file of another type.", None, "the address in iCal format"),
        ("The file has more than 262144 bytes.", None, "bytes. Publish a calendar with fewer"),
    ] {
        let mut world = world();
        let id = subscribed(&mut world).unwrap();
        let lookup = world.lookups().pop().unwrap();
        let (lookup_id, about) = (lookup.id, lookup.about);
        let answer =
            json!({ "lookup_id": lookup_id, "about": about, "error": error, "status": status });
        let mut world = world.system();
        world.call("take_calendar", &answer).unwrap();
        let problem = world.get(SUBSCRIPTIONS, &id).unwrap().value.problem.unwrap();
        assert!(problem.contains(step), "{problem}");
    }
}
