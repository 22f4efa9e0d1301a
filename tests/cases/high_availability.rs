//! A primary of three databases that is killed with its Patroni while callers write at three nodes: a follower takes its
//! place, and every write that was answered is there, once.

use crate::harness::{
    Options, Process,
    cluster::{Cluster, script},
    long_form::{is_full, print_now},
    transfer_checks::check,
    transfers::{COMPONENTS, Caller, SETTINGS, Sent, Transfer},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::{
    collections::BTreeMap,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::block_in_place;

const NODES: usize = 3;
const WRITERS: u64 = 32;
const FAILOVERS: u64 = 5;
/// The pause of a caller between two transfers, which leaves processor time to the databases.
const PAUSE: Duration = Duration::from_millis(100);
/// The time after which every node has to write again.
const RECOVERY: Duration = Duration::from_secs(30);
/// The time after which a test that waits for nodes to write gives up.
const GIVE_UP: Duration = Duration::from_secs(120);

/// What callers have seen.
#[derive(Default)]
struct Seen {
    is_over: AtomicBool,
    /// How many answers have asked to repeat the call.
    refusals: AtomicUsize,
    /// When the last transfer began that a node has acknowledged, by the address of the node.
    acknowledged: Mutex<BTreeMap<String, Instant>>,
}

impl Seen {
    /// Returns whether each node has acknowledged a transfer that began after this instant.
    fn all_have_written_since(&self, instant: Instant) -> bool {
        let acknowledged = self.acknowledged.lock().unwrap();
        acknowledged.len() == NODES && acknowledged.values().all(|begun| *begun > instant)
    }

    async fn wait_until_all_have_written_since(&self, instant: Instant) {
        while !self.all_have_written_since(instant) {
            assert!(instant.elapsed() < GIVE_UP, "a node does not write");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Sends transfers until this is over, and repeats each as its refusals say until it is acknowledged.
async fn write(mut caller: Caller, name: u64, seen: Arc<Seen>) -> Vec<Transfer> {
    let (mut random, mut sent) = (StdRng::seed_from_u64(name), Vec::new());
    while !seen.is_over.load(Ordering::Relaxed) {
        let memo = format!("{name}.{}", sent.len());
        let mut transfer = Transfer::random(memo, true, &mut random);
        while transfer.is_open() {
            let url = caller.next_node().unwrap();
            let begun = Instant::now();
            match caller.send(&url, &mut transfer).await {
                Sent::Acknowledged => {
                    seen.acknowledged.lock().unwrap().insert(url, begun);
                }
                Sent::Refused(seconds) => {
                    seen.refusals.fetch_add(1, Ordering::Relaxed);
                    let seconds = seconds.unwrap_or_else(|| panic!("no Retry-After: {transfer:?}"));
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                }
                Sent::Broken => panic!("a node that runs has broken a connection: {transfer:?}"),
            }
        }
        sent.push(transfer);
        tokio::time::sleep(PAUSE).await;
    }
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_a_follower_replaces_the_primary() {
    if !is_full() {
        return;
    }
    let mut cluster = block_in_place(Cluster::start);
    let url = cluster.url.clone();
    let start = |_| {
        let options = Options::with(&COMPONENTS).configuration(SETTINGS).postgres(&url);
        block_in_place(|| Process::start(options))
    };
    let nodes: Vec<Process> = (0..NODES).map(start).collect();
    let token = nodes[0].claimed_agent().await.token;
    let caller = Caller::of(&nodes, &token);
    let mut sent = caller.open_accounts().await;
    let seen = Arc::new(Seen::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let caller = caller.beginning_at(usize::try_from(writer).unwrap());
            tokio::spawn(write(caller, writer, Arc::clone(&seen)))
        })
        .collect();
    let mut random = StdRng::seed_from_u64(0);
    let mut slowest = Duration::ZERO;
    for failover in 1..=FAILOVERS {
        seen.wait_until_all_have_written_since(Instant::now()).await;
        tokio::time::sleep(Duration::from_millis(random.random_range(0..4000))).await;
        let before = seen.refusals.load(Ordering::Relaxed);
        let killed = block_in_place(|| cluster.kill_primary());
        let killed_at = Instant::now();
        seen.wait_until_all_have_written_since(killed_at).await;
        let took = killed_at.elapsed();
        slowest = slowest.max(took);
        let primary = block_in_place(|| cluster.primary());
        assert_ne!(primary, killed);
        let refusals = seen.refusals.load(Ordering::Relaxed) - before;
        print_now(&format!(
            "failover {failover} of {FAILOVERS}, from {killed} to {primary}: {:.1} s, {refusals} calls repeated",
            took.as_secs_f64()
        ));
        block_in_place(|| cluster.start_again());
    }
    seen.is_over.store(true, Ordering::Relaxed);
    for writer in writers {
        sent.extend(writer.await.unwrap());
    }
    assert!(sent.iter().all(|transfer| transfer.acknowledged.is_some()));
    check(nodes, &token, sent, 0).await;
    assert!(slowest <= RECOVERY, "{slowest:?}");
}

#[test]
fn the_script_of_the_recipe_passes_shellcheck() {
    let searched = std::env::var_os("PATH").unwrap();
    // `cargo xtask test` installs shellcheck.
    if !std::env::split_paths(&searched).any(|folder| folder.join("shellcheck").exists()) {
        return;
    }
    let output = Command::new("shellcheck").arg(script()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
