//! Everything together: random walks of a few people. Contact data is readable only where both have
//! disclosed it, one-sided interest is not visible to the other person, no time is reserved twice,
//! messages are numbered without a gap, and credits add up.

use crate::harness::{
    conversations::TALKS,
    credits::CREDITS,
    futures,
    pairings::PAIRINGS,
    walk::{PEOPLE, Step, World, host},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

/// Returns the number of walks and of the steps of each: more and longer with
/// `cargo xtask test --full`.
fn walks() -> (u64, usize) {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { (4, 300) } else { (2, 110) }
}

/// The number of steps between two checks of everything.
const BETWEEN: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn random_walks_disclose_nothing_private_and_stay_consistent() {
    let (seeds, steps) = walks();
    let (mut unnoticed, mut booked, mut exchanged) = (0, 0, 0);
    for seed in 1..=seeds {
        eprintln!("the walk of seed {seed}");
        let host = host().await;
        let mut random = StdRng::seed_from_u64(seed);
        let mut world = World::new(&host).await;
        for number in 1..=steps {
            match random.random_range(0..10) {
                0 => unnoticed += usize::from(goes_unnoticed(&mut world, &mut random).await),
                1 | 2 => {
                    let step = world.private_step(&mut random).await;
                    is_sound(&world, &step);
                }
                _ => {
                    let step = world.step(&mut random).await;
                    is_sound(&world, &step);
                }
            }
            if number % BETWEEN == 0 {
                booked += nobody_is_booked_twice(&world).await;
            }
        }
        everybody_reads_what_is_theirs(&world).await;
        credits_add_up(&world).await;
        exchanged += world.disclosures.exchanged();
    }
    let count = format!("{unnoticed} private steps, {booked} meetings, {exchanged} exchanges");
    eprintln!("{count}");
    assert!(unnoticed > 8 && booked > 0 && exchanged > 0, "{count}");
}

/// Asserts that no step has an internal error, and that no answer has data that was not disclosed.
fn is_sound(world: &World<'_>, step: &Step) {
    assert!(!step.reply.status.is_server_error(), "{}: {}", step.action, step.reply.text);
    world.leaks_nothing(step.by, &step.reply.text, &step.action);
}

/// Takes a private step, and asserts that what all other people read does not change. Returns false
/// if the step was refused or connected two people with mutual interest, so that nothing was
/// compared.
async fn goes_unnoticed(world: &mut World<'_>, random: &mut StdRng) -> bool {
    world.settles().await;
    let before = views(world).await;
    let step = world.private_step(random).await;
    is_sound(world, &step);
    if step.reply.status != 200 || step.reply.body["result"]["mutual"] == true {
        return false;
    }
    world.settles().await;
    let after = views(world).await;
    for person in (0..PEOPLE).filter(|person| *person != step.by) {
        for (before, after) in before[person].iter().zip(&after[person]) {
            assert_eq!(before, after, "{person} learns of {}: {}", step.action, step.reply.text);
        }
    }
    true
}

async fn views(world: &World<'_>) -> Vec<Vec<(String, Value)>> {
    futures(world.walkers.iter().map(|walker| walker.view(world))).await
}

/// Asserts that no two meetings of a person overlap; returns how many meetings there are.
async fn nobody_is_booked_twice(world: &World<'_>) -> usize {
    world.settles().await;
    let calendars = futures(world.walkers.iter().map(|walker| walker.booked())).await;
    for (person, meetings) in calendars.iter().enumerate() {
        for (number, (start, end, id)) in meetings.iter().enumerate() {
            for (other_start, other_end, other) in &meetings[number + 1..] {
                let apart = end <= other_start || other_end <= start;
                assert!(apart, "{person} meets twice at once: {id}, {other}");
            }
            let with = calendars
                .iter()
                .filter(|meetings| meetings.iter().any(|meeting| meeting.2 == *id))
                .count();
            assert_eq!(with, 2, "{id} is in the calendar of {with}");
        }
    }
    calendars.iter().map(Vec::len).sum::<usize>() / 2
}

/// Asserts that lists and events have no contact data, that pairings have only what was exchanged,
/// and that messages are numbered without a gap and are the same for both people.
async fn everybody_reads_what_is_theirs(world: &World<'_>) {
    world.settles().await;
    let views = views(world).await;
    for (person, view) in views.iter().enumerate() {
        for (what, seen) in view {
            world.has_no_contact_data(person, &seen.to_string(), what);
            assert!(what != "inbox" || !seen.to_string().contains("block"), "{seen:#}");
        }
        for (pairing, ..) in &world.pairings {
            let get = json!({ "action": "get", "pairing_id": pairing });
            let seen = world.walkers[person].agent().call(PAIRINGS, get).await;
            world.leaks_nothing(person, &seen.text, "a pairing at the end");
        }
    }
    for (thread, one, other) in &world.threads {
        let mut read = Vec::new();
        for person in [one, other] {
            let body =
                json!({ "action": "messages", "thread_id": thread, "after": 0, "limit": 100 });
            let messages = world.walkers[*person].agent().result(TALKS, body).await;
            let items = messages["items"].as_array().unwrap().iter();
            read.push(items.map(|message| message["seq"].as_u64().unwrap()).collect::<Vec<_>>());
        }
        assert_eq!(read[0], (1..=read[0].len() as u64).collect::<Vec<_>>(), "{thread}");
        assert_eq!(read[0], read[1], "{thread}");
    }
}

/// Asserts that credits are held only for proposals that wait for an answer, and that none is lost.
async fn credits_add_up(world: &World<'_>) {
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
