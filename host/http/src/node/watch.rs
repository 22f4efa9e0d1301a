//! Runs the checks, and keeps the last result for the probes.

use super::{
    checks::check_database,
    parts::{CHECKS, DISK, Part},
    places::NodePlaces,
    problem::Problem,
};
use portolan_pipeline::Host;
use portolan_vocabulary::Timestamp;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    sync::watch,
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};

/// The interval of the checks.
const INTERVAL: Duration = Duration::from_secs(5);
/// The time after which a disk counts as silent.
const DISK_TIME: Duration = Duration::from_secs(5);
/// The age of a result from which on it says nothing about now.
const STALE: Duration = Duration::from_secs(30);
/// The age of a result at which a new process is the only help.
const STUCK: Duration = Duration::from_secs(120);

/// The result of the checks.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) at: Timestamp,
    since: Instant,
    pub(crate) problems: Arc<[Problem]>,
}

impl Checked {
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

/// The state of this node as it was last checked.
#[derive(Debug)]
pub(crate) struct NodeHealth {
    places: NodePlaces,
    last: Mutex<Checked>,
    /// Held while the checks run. It has the look at the disks that has not ended, so that a disk that does not
    /// answer holds one thread and not another one at each look.
    checking: tokio::sync::Mutex<Option<JoinHandle<Vec<Problem>>>>,
}

impl NodeHealth {
    pub(crate) fn new(places: NodePlaces, now: Timestamp) -> Self {
        let never = Problem::unready(&CHECKS, "nothing was checked yet", "wait for a moment");
        let last = Checked { at: now, since: Instant::now(), problems: [never].into() };
        Self { places, last: Mutex::new(last), checking: tokio::sync::Mutex::default() }
    }

    /// Checks every few seconds, until `stop` becomes true.
    pub(crate) async fn watch(&self, host: &Host, mut stop: watch::Receiver<bool>) {
        loop {
            self.check(host).await;
            tokio::select! {
                () = sleep(INTERVAL) => {}
                _ = stop.changed() => return,
            }
        }
    }

    /// Checks now, and returns the result.
    pub(crate) async fn check(&self, host: &Host) -> Checked {
        let mut looking = self.checking.lock().await;
        let disks = async {
            let look = looking.get_or_insert_with(|| {
                let (places, keys) = (self.places.clone(), host.store.keys().clone());
                let catalog = host.catalog.folder().to_owned();
                spawn_blocking(move || places.check(&catalog, &keys))
            });
            match timeout(DISK_TIME, look).await {
                Ok(ended) => {
                    *looking = None;
                    ended.unwrap_or_default()
                }
                Err(_elapsed) => vec![Problem::unready(
                    &DISK,
                    "a disk of this node does not answer",
                    "look at the disk or the network file system: `dmesg | tail`, `df -h`",
                )],
            }
        };
        let (mut problems, of_disks) = tokio::join!(check_database(host), disks);
        problems.extend(of_disks);
        problems.sort_by_key(|problem| (!problem.unready, problem.severity));
        let (at, since) = (host.clock.now(), Instant::now());
        let checked = Checked { at, since, problems: problems.into() };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        note_changes(&last.problems, &checked.problems);
        *last = checked.clone();
        checked
    }

    /// Returns the last result, with the problem of one that is too old.
    pub(crate) fn last(&self) -> Checked {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let age = last.age();
        if age > STALE {
            let stale = Problem::unready(
                &CHECKS,
                format!("no check has ended for {} s", age.as_secs()),
                "restart the host",
            );
            last.problems = last.problems.iter().cloned().chain([stale]).collect();
        }
        last
    }

    /// Returns whether the checks still end, so that the process is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).age() < STUCK
    }
}

/// Logs when the node becomes unready for a reason, and when the reason is over.
fn note_changes(before: &[Problem], now: &[Problem]) {
    let unready = |problems: &[Problem], part: &Part| {
        problems.iter().any(|problem| problem.unready && problem.part == part)
    };
    for problem in now.iter().filter(|problem| problem.unready) {
        if !unready(before, problem.part) {
            let part = problem.part.name;
            tracing::error!(part, fix = problem.fix, "not ready: {}", problem.problem);
        }
    }
    for problem in before.iter().filter(|problem| problem.unready) {
        if !unready(now, problem.part) && problem.part != &CHECKS {
            tracing::info!(part = problem.part.name, "no reason to be unready any more");
        }
    }
}
