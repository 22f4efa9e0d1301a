//! Random walks of a few people through all capabilities. Contact data is readable only where both have
//! disclosed it, one-sided interest is not visible to the other person, no time is reserved twice,
//! messages are numbered without a gap, credits add up, and nobody gets an event that their preferences
//! keep out or hold.

use crate::harness::{
    conversations::CONVERSATIONS,
    credits::CREDITS,
    join_all,
    pairings::PAIRINGS,
    walk::{PEOPLE, Step, World, host},
    walk_preferences::{SLEEPING, UNINTERESTED, UNWANTED, set_preferences},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

/// Returns the number of walks and of the steps of each: more and longer with
/// `cargo xtask test --full`.
fn walks() -> (u64, usize) {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { (4, 300) } else { (2, 110) }
}

/// The number of steps between two checks of everything.
const STEPS_PER_CHECK: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn random_walks_disclose_nothing_private_and_stay_consistent() {
    let (seeds, steps) = walks();
    let (mut unnoticed, mut booked, mut exchanged, mut held) = (0, 0, 0, 0);
    for seed in 1..=seeds {
        eprintln!("the walk of seed {seed}");
        let host = host().await;
        let mut random = StdRng::seed_from_u64(seed);
        let mut world = World::new(&host).await;
        let preferred_at = set_preferences(&host, &world.walkers).await;
        for number in 1..=steps {
            match random.random_range(0..10) {
                0 => unnoticed += usize::from(is_unnoticed(&mut world, &mut random).await),
                1 | 2 => {
                    let step = world.private_step(&mut random).await;
                    assert_sound(&world, &step);
                }
                _ => {
                    let step = world.step(&mut random).await;
                    assert_sound(&world, &step);
                }
            }
            if number % STEPS_PER_CHECK == 0 {
                booked += check_bookings(&world).await;
            }
        }
        check_readable_data(&world).await;
        check_credits(&world).await;
        held += check_preferences(&world, &preferred_at).await;
        exchanged += world.disclosures.exchanged_count();
    }
    let count = format!(
        "{unnoticed} private steps, {booked} meetings, {exchanged} exchanges, {held} held events"
    );
    eprintln!("{count}");
    assert!(unnoticed > 8 && booked > 0 && exchanged > 0 && held > 0, "{count}");
}

/// Asserts that no step has an internal error, and that no answer has data that was not disclosed.
fn assert_sound(world: &World<'_>, step: &Step) {
    assert!(!step.reply.status.is_server_error(), "{}: {}", step.action, step.reply.text);
    world.assert_discloses_nothing(step.by, &step.reply.text, &step.action);
}

/// Takes a private step, and asserts that what all other people read does not change. Returns false
/// if the step was refused or connected two people with mutual interest, so that nothing was
/// compared.
async fn is_unnoticed(world: &mut World<'_>, random: &mut StdRng) -> bool {
    world.wait_until_settled().await;
    let before = views(world).await;
    let step = world.private_step(random).await;
    assert_sound(world, &step);
    if step.reply.status != 200 || step.reply.body["result"]["mutual"] == true {
        return false;
    }
    world.wait_until_settled().await;
    let after = views(world).await;
    for person in (0..PEOPLE).filter(|person| *person != step.by) {
        for (before, after) in before[person].iter().zip(&after[person]) {
            assert_eq!(before, after, "{person} learns of {}: {}", step.action, step.reply.text);
        }
    }
    true
}

async fn views(world: &World<'_>) -> Vec<Vec<(String, Value)>> {
    join_all(world.walkers.iter().map(|walker| walker.view(world))).await
}

/// Asserts that no two meetings of a person overlap; returns how many meetings there are.
async fn check_bookings(world: &World<'_>) -> usize {
    world.wait_until_settled().await;
    let calendars = join_all(world.walkers.iter().map(|walker| walker.booked_meetings())).await;
    for (person, meetings) in calendars.iter().enumerate() {
        for (number, (start, end, id)) in meetings.iter().enumerate() {
            for (other_start, other_end, other) in &meetings[number + 1..] {
                let is_disjoint = end <= other_start || other_end <= start;
                assert!(is_disjoint, "{person} meets twice at once: {id}, {other}");
            }
            let count = calendars
                .iter()
                .filter(|meetings| meetings.iter().any(|meeting| meeting.2 == *id))
                .count();
            assert_eq!(count, 2, "{id} is in the calendars of {count} people");
        }
    }
    calendars.iter().map(Vec::len).sum::<usize>() / 2
}

/// Asserts that lists and events have no contact data, that pairings have only what was exchanged,
/// and that messages are numbered without a gap and are the same for both people.
async fn check_readable_data(world: &World<'_>) {
    world.wait_until_settled().await;
    let views = views(world).await;
    for (person, view) in views.iter().enumerate() {
        for (what, seen) in view {
            world.assert_has_no_contact_data(person, &seen.to_string(), what);
            assert!(what != "inbox" || !seen.to_string().contains("block"), "{seen:#}");
        }
        for (pairing, ..) in &world.pairings {
            let get = json!({ "action": "get", "pairing_id": pairing });
            let seen = world.walkers[person].agent().call(PAIRINGS, get).await;
            world.assert_discloses_nothing(person, &seen.text, "a pairing at the end");
        }
    }
    for (thread, one, other) in &world.threads {
        let mut read = Vec::new();
        for person in [one, other] {
            let body =
                json!({ "action": "messages", "thread_id": thread, "after": 0, "limit": 100 });
            let messages = world.walkers[*person].agent().result(CONVERSATIONS, body).await;
            let items = messages["items"].as_array().unwrap().iter();
            read.push(items.map(|message| message["seq"].as_u64().unwrap()).collect::<Vec<_>>());
        }
        assert_eq!(read[0], (1..=read[0].len() as u64).collect::<Vec<_>>(), "{thread}");
        assert_eq!(read[0], read[1], "{thread}");
    }
}

/// Asserts that credits are held only for proposals that wait for an answer, and that none is lost.
async fn check_credits(world: &World<'_>) {
    for walker in &world.walkers {
        let balance = walker.agent().result(CREDITS, json!({ "action": "balance" })).await;
        let number = |name: &str| balance[name].as_i64().unwrap();
        let flow = number("lifetime_in") - number("lifetime_out");
        assert_eq!(number("available") + number("held"), flow, "{balance:#}");
        let open = json!({
            "action": "list", "role": "sent", "state": ["proposed", "clarifying"],
            "limit": 100,
        });
        let open = walker.agent().result(PAIRINGS, open).await;
        let open = open["items"].as_array().unwrap().len();
        assert_eq!(number("held"), i64::try_from(open).unwrap(), "{balance:#}");
    }
}

/// Asserts that no event has reached the person who wants none of its family, and nothing but what is always
/// delivered the one in quiet hours; returns how many events are held for the latter.
async fn check_preferences(world: &World<'_>, preferred_at: &str) -> u64 {
    world.wait_until_settled().await;
    let is_within = |event_type: &str, name: &str| {
        event_type.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (uninterested, sleeping) = (&world.walkers[UNINTERESTED], &world.walkers[SLEEPING]);
    for event_type in uninterested.event_types_since(preferred_at).await {
        let is_unwanted = UNWANTED.iter().any(|name| is_within(&event_type, name));
        assert!(!is_unwanted, "{event_type} is delivered although it is disabled");
    }
    let in_force = sleeping.preferences().await;
    let always = in_force["always_delivered"].as_array().unwrap();
    for event_type in sleeping.event_types_since(preferred_at).await {
        let arrives = always.iter().any(|name| is_within(&event_type, name.as_str().unwrap()));
        assert!(arrives, "{event_type} is delivered in quiet hours");
    }
    in_force["held_events"].as_u64().unwrap()
}
