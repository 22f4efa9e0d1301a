//! What a PostgreSQL and its machine use while nodes commit.

use crate::{load::children, postgres};
use anyhow::{Context as _, Result, bail};
use sqlx::PgConnection;
use std::{fs::read_to_string, pin::pin, time::Duration};

/// The ticks of proc(5) in a second.
const TICKS: f64 = 100.0;
/// The time between two looks at the sessions of a database.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Whether a session of this database waits for a lock, of a row, of a number or of what else there is.
const WAITS: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock')";

/// A session that looks at the other sessions of its database, and at the processes of its server on this machine.
pub(super) struct Observer {
    session: PgConnection,
    /// The process of the session.
    process: String,
    /// The process that has started those of all sessions.
    server: u32,
}

/// What was used together while something was observed.
#[derive(Default)]
pub(super) struct Usage {
    machine: Processors,
    /// The seconds that processors have worked for the server.
    database_s: f64,
    /// How often there was a look at the sessions, and how often one of them waited for a lock.
    looks: u32,
    waiting: u32,
}

/// The ticks of all processors of the machine.
#[derive(Default, Clone, Copy)]
struct Processors {
    idle: f64,
    all: f64,
}

impl Usage {
    /// Returns the share of the machine's processors that had nothing to do, in percent.
    pub(super) fn idle_percent(&self) -> f64 {
        self.machine.idle / self.machine.all * 100.0
    }

    /// Returns the microseconds of processor time of the server for each of these writes.
    pub(super) fn database_us(&self, writes: f64) -> f64 {
        self.database_s * 1e6 / writes
    }

    /// Returns the share of the looks that have seen a session wait for a lock, in percent.
    pub(super) fn waiting_percent(&self) -> f64 {
        f64::from(self.waiting) / f64::from(self.looks) * 100.0
    }
}

impl Observer {
    /// Connects to the database with this URL, whose server runs on this machine.
    pub(super) async fn of(url: &str) -> Result<Self> {
        let mut session = postgres::connect(url).await;
        let process: i32 =
            sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut session).await?;
        let process = process.to_string();
        let numbers = numbers(&process)?;
        let server: u32 = numbers.first().context("no parent")?.to_string().parse()?;
        Ok(Self { session, process, server })
    }

    /// Adds to `usage` what is used while this work runs in tasks of its own.
    pub(super) async fn observe<Done>(
        &mut self,
        usage: &mut Usage,
        work: impl Future<Output = Result<Done>>,
    ) -> Result<Done> {
        let (machine, database_s) = (processors()?, self.database_s()?);
        let mut work = pin!(work);
        let done = loop {
            if let Ok(done) = tokio::time::timeout(LOOK_INTERVAL, work.as_mut()).await {
                break done?;
            }
            let waits: bool = sqlx::query_scalar(WAITS).fetch_one(&mut self.session).await?;
            usage.looks += 1;
            usage.waiting += u32::from(waits);
        };
        let now = processors()?;
        usage.machine.idle += now.idle - machine.idle;
        usage.machine.all += now.all - machine.all;
        usage.database_s += self.database_s()? - database_s;
        Ok(done)
    }

    /// Returns the processor time of the server in seconds, without that of this session: of its processes that run,
    /// and of those that have ended.
    fn database_s(&self) -> Result<f64> {
        let mut ticks: f64 = times(&self.server.to_string())?.iter().sum();
        for process in children(self.server)? {
            // One that ends meanwhile is counted by its parent.
            if process != self.process
                && let Ok([user, system, ..]) = times(&process)
            {
                ticks += user + system;
            }
        }
        Ok(ticks / TICKS)
    }
}

/// Returns what the processors of the machine have done, of the first line of proc_stat(5).
fn processors() -> Result<Processors> {
    let text = read_to_string("/proc/stat")?;
    let line = text.lines().next().unwrap_or_default();
    // The time of guests is part of the first number.
    let ticks: Result<Vec<f64>, _> =
        line.split_whitespace().skip(1).take(8).map(str::parse).collect();
    let ticks = ticks?;
    // Idle, and idle until a disk has answered.
    let idle = ticks.iter().skip(3).take(2).sum();
    Ok(Processors { idle, all: ticks.iter().sum() })
}

/// Returns the numbers of proc_pid_stat(5) from `ppid` to `cstime`.
fn numbers(process: &str) -> Result<Vec<f64>> {
    let text = read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = text.rsplit_once(')').context("no name of a program")?;
    let numbers: Result<Vec<f64>, _> =
        fields.split_whitespace().skip(1).take(14).map(str::parse).collect();
    Ok(numbers?)
}

/// Returns the ticks of a process in its own and in the system's code, and those of its children that have ended.
fn times(process: &str) -> Result<[f64; 4]> {
    match numbers(process)?.as_slice() {
        &[.., user, system, ended_user, ended_system] => {
            Ok([user, system, ended_user, ended_system])
        }
        _ => bail!("the times of a process are missing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_times_of_a_process_grow_with_its_work() {
        let process = std::process::id().to_string();
        let parent = numbers(&process).unwrap()[0];
        assert!((parent - f64::from(std::os::unix::process::parent_id())).abs() < 0.5);
        let before: f64 = times(&process).unwrap().iter().sum();
        let machine = processors().unwrap();
        let begun = Instant::now();
        while times(&process).unwrap().iter().sum::<f64>() < before + 2.0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no tick was counted");
        }
        let now = processors().unwrap();
        assert!(now.all > machine.all && now.idle < now.all);
    }
}
