//! Random walks in which people also apply for jobs, act for an organisation, mute, block, set quiet hours,
//! disable, cap and collect events, and change all that: nothing reaches a person who does not want it now, and
//! nothing that is held is lost or delivered twice.

use crate::harness::{
    Host, Options, delivery_model::Counts, delivery_walk::DeliveryWalk, matching,
};
use rand::{SeedableRng as _, rngs::StdRng};

/// Names the one seed to walk with, to repeat a walk that has failed.
const SEED: &str = "PORTOLAN_TEST_SEED";

/// The number of steps after each of which somebody also does something for or with the organisation.
const STEPS_PER_WORK: usize = 6;

/// Returns the seeds, and the number of steps of each walk: more and longer with
/// `cargo xtask test --full`.
fn walks() -> (Vec<u64>, usize) {
    let is_full = std::env::var_os("PORTOLAN_TEST_FULL").is_some();
    let (seeds, steps) = if is_full { ((1..=6).collect(), 400) } else { (vec![2], 240) };
    match std::env::var(SEED) {
        Ok(seed) => (vec![seed.parse().unwrap()], steps),
        Err(_) => (seeds, steps),
    }
}

async fn host() -> Host {
    let more =
        ["applications", "calendar", "owner_verification", "svc_webhooks", "thread_meetings"];
    let names = [&matching::CAPABILITIES[..], &more].concat();
    // The tests make many calls, and none of them is about the time limit.
    let options = Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n");
    let options = options.add_configuration(
        "public_url = \"http://portolan.test\"\nreachable_networks = [\"127.0.0.0/8\"]\n",
    );
    Host::start(options).await
}

#[tokio::test(flavor = "multi_thread")]
async fn random_walks_deliver_what_people_want_when_they_want_it_and_lose_nothing() {
    let (seeds, steps) = walks();
    let mut counts = Counts::default();
    for seed in seeds {
        eprintln!("the walk of {SEED}={seed}");
        let host = host().await;
        let mut random = StdRng::seed_from_u64(seed);
        let mut walk = DeliveryWalk::new(&host, counts).await;
        // The organisation has a sequence of its own, so that the other steps are the same without it.
        let mut of_office = StdRng::seed_from_u64(seed);
        for number in 0..steps {
            walk.step(&mut random).await;
            if number % STEPS_PER_WORK == 0 {
                walk.work(&mut of_office).await;
            }
        }
        walk.finish().await;
        counts = walk.counts;
    }
    eprintln!("{counts:?}");
    let is_enough = counts.delivered >= 50 && counts.held >= 10 && counts.dropped >= 10;
    assert!(is_enough && counts.summarized >= 3 && counts.of_office >= 10, "{counts:?}");
}
