//! Hosts are killed at random moments while many callers write: no acknowledged write is lost, and
//! no write is done in part or twice.

use crate::harness::{
    Options, Process,
    database::Database,
    long_form::{is_full, print_now},
    postgres::Server,
    transfer_checks::check,
    transfers::{COMPONENTS, Caller, SETTINGS, Sent, Transfer},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::task::block_in_place;

const WRITERS: u64 = 32;
/// How long a node is stopped: less than the time after which PostgreSQL ends its transaction.
const STOPPED: Duration = Duration::from_secs(3);

/// How the nodes of a service fail.
struct Plan {
    nodes: u64,
    /// The number of repetitions, each with a new database.
    repetitions: u64,
    /// How many nodes fail, one after the other.
    rounds: u64,
    /// Whether a node first stops for some time. Every second one then goes on, the others are killed.
    stops: bool,
}

impl Plan {
    /// In the long form, this and the next plan kill 1,000 nodes: twice 200 hosts with a database of their own, and 600
    /// of three nodes.
    fn of_one_node() -> Self {
        Self { nodes: 1, repetitions: if is_full() { 20 } else { 1 }, rounds: 10, stops: false }
    }

    fn of_three_nodes() -> Self {
        let (repetitions, rounds) = if is_full() { (24, 25) } else { (1, 3) };
        Self { nodes: 3, repetitions, rounds, stops: false }
    }

    fn of_nodes_that_stop() -> Self {
        let (repetitions, rounds) = if is_full() { (4, 10) } else { (1, 2) };
        Self { nodes: 3, repetitions, rounds, stops: true }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_sqlite() {
    let plan = Plan::of_one_node();
    for repetition in 0..plan.repetitions {
        let options = || Options::with(&COMPONENTS).configuration(SETTINGS);
        torture(&plan, repetition, options, None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_postgres() {
    torture_on_postgres(&Plan::of_one_node()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_three_nodes() {
    torture_on_postgres(&Plan::of_three_nodes()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_nodes_hang() {
    torture_on_postgres(&Plan::of_nodes_that_stop()).await;
}

async fn torture_on_postgres(plan: &Plan) {
    let mut server = Server::start(200);
    for repetition in 0..plan.repetitions {
        let url = server.database().await;
        let options = || Options::with(&COMPONENTS).configuration(SETTINGS).postgres(&url);
        torture(plan, repetition, options, Some(&mut server)).await;
    }
}

/// Sends transfers, each at the next node, until this is over or no node answers: first those without an answer, then new
/// ones. A transfer with a key whose node does not answer is repeated at another one. Returns all of them.
async fn write(
    mut caller: Caller,
    mut open: Vec<Transfer>,
    name: String,
    mut random: StdRng,
    is_over: Arc<AtomicBool>,
) -> Vec<Transfer> {
    let (mut sent, mut made) = (Vec::new(), 0);
    while !is_over.load(Ordering::Relaxed)
        && let Some(url) = caller.next_node()
    {
        let mut transfer = open.pop().unwrap_or_else(|| {
            made += 1;
            let keyed = random.random_bool(0.5);
            Transfer::random(format!("{name}.{made}"), keyed, &mut random)
        });
        match caller.send(&url, &mut transfer).await {
            Sent::Broken => {
                caller.forget(&url);
                let list = if transfer.keyed { &mut open } else { &mut sent };
                list.push(transfer);
            }
            Sent::Acknowledged | Sent::Refused(_) => sent.push(transfer),
        }
    }
    sent.append(&mut open);
    sent
}

/// Starts nodes on one database, and makes one of them fail several times while callers write; then checks all that is
/// stored.
async fn torture(
    plan: &Plan,
    repetition: u64,
    options: impl Fn() -> Options,
    mut server: Option<&mut Server>,
) {
    let start = |_| block_in_place(|| Process::start(options()));
    let mut nodes: Vec<Process> = (0..plan.nodes).map(start).collect();
    let token = nodes[0].claimed_agent().await.token;
    let mut sent = Caller::of(&nodes, &token).open_accounts().await;
    let (mut random, mut kills) = (StdRng::seed_from_u64(repetition), 0);
    for round in 0..plan.rounds {
        let caller = Caller::of(&nodes, &token);
        let is_over = Arc::new(AtomicBool::new(false));
        let mut open: Vec<_> = sent.extract_if(.., |transfer| transfer.is_open()).collect();
        let mut writers = Vec::new();
        for writer in 0..WRITERS {
            let share = open.len().div_ceil(usize::try_from(WRITERS - writer).unwrap());
            let own = open.split_off(open.len() - share);
            let random = StdRng::seed_from_u64(random.random());
            let name = format!("{repetition}.{round}.{writer}");
            let caller = caller.beginning_at(usize::try_from(writer).unwrap());
            let is_over = Arc::clone(&is_over);
            writers.push(tokio::spawn(write(caller, own, name, random, is_over)));
        }
        caller.answered().await;
        let failing = nodes.swap_remove(random.random_range(0..nodes.len()));
        let mut moment = || Duration::from_millis(random.random_range(50..400));
        if let Some(server) = server.as_deref_mut().filter(|_| is_full() && round % 3 == 2) {
            tokio::time::sleep(moment()).await;
            block_in_place(|| server.kill());
            tokio::time::sleep(moment()).await;
            block_in_place(|| server.start_again());
        }
        tokio::time::sleep(moment()).await;
        if plan.stops {
            failing.signal("STOP");
            tokio::time::sleep(STOPPED).await;
        }
        if plan.stops && round % 2 == 0 {
            failing.signal("CONT");
            nodes.push(failing);
        } else {
            kills += 1;
            failing.signal("KILL");
            let (_, folder) = block_in_place(|| failing.wait());
            if nodes.is_empty() {
                release_leases(folder.path()).await;
            }
            if let Some(server) = &server {
                server.ready().await;
            }
            nodes.push(block_in_place(|| Process::start_in(folder)));
        }
        is_over.store(true, Ordering::Relaxed);
        for writer in writers {
            sent.extend(writer.await.unwrap());
        }
        if is_full() {
            let (turn, sent) = (repetition * plan.rounds + round + 1, sent.len());
            let (nodes, of) = (plan.nodes, plan.repetitions * plan.rounds);
            print_now(&format!("{nodes} nodes: failed {turn} of {of} times, {sent} transfers"));
        }
    }
    if nodes.len() > 1 {
        nodes = restart_all(nodes).await;
    }
    check(nodes, &token, sent, kills).await;
}

/// Kills all nodes and starts them again.
async fn restart_all(nodes: Vec<Process>) -> Vec<Process> {
    for node in &nodes {
        node.signal("KILL");
    }
    let folders: Vec<_> = block_in_place(|| nodes.into_iter().map(|node| node.wait().1).collect());
    release_leases(folders[0].path()).await;
    block_in_place(|| folders.into_iter().map(Process::start_in).collect())
}

/// Makes the deliveries due that killed hosts have begun: their leases last half a minute, and the
/// short form does not wait for that.
async fn release_leases(folder: &Path) {
    if !is_full() {
        Database::of(folder).execute("UPDATE deliveries SET due_at = 0").await;
    }
}
