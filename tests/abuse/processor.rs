//! The time that the threads of the host within this process have run.

use std::{collections::BTreeMap, fs, time::Duration};

/// The name of the threads of the clients, which are not the host's.
pub const CLIENT_THREADS: &str = "client";
/// The beginning of the name of a thread that runs a test.
const TEST_THREADS: &str = "abuse::";

/// The time of each thread of the host, by its id.
#[derive(Debug, Default)]
pub struct ThreadTimes(BTreeMap<u32, Duration>);

impl ThreadTimes {
    pub fn now() -> Self {
        let own = std::process::id();
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        let ids = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse::<u32>().ok());
        Self(ids.filter(|id| *id != own).filter_map(|id| Some((id, time_of(id)?))).collect())
    }

    /// Returns how long the threads of now have run since an earlier measurement.
    pub fn since(&self, before: &Self) -> Duration {
        let run = |(id, time): (&u32, &Duration)| {
            time.saturating_sub(before.0.get(id).copied().unwrap_or_default())
        };
        self.0.iter().map(run).sum()
    }
}

/// Returns the time that a thread has run; `None` if it has ended or is not the host's.
fn time_of(id: u32) -> Option<Duration> {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/task/{id}/{name}")).ok();
    let name = read("comm")?;
    let is_client = name.trim() == CLIENT_THREADS || name.starts_with(TEST_THREADS);
    let nanoseconds = read("schedstat")?.split(' ').next()?.parse().ok()?;
    (!is_client).then(|| Duration::from_nanos(nanoseconds))
}
