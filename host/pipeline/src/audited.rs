//! Limits how many runs of timers and deliveries get a row in the audit log, so that a timer that sets itself
//! again cannot fill the database.

use portolan_vocabulary::{MINUTE, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The maximum number of rows in a minute for each action.
const ROWS: u64 = 60;

/// The runs of each action, by capability and name, in the last minute in which it ran.
#[derive(Debug, Default)]
pub(super) struct DueRuns(Mutex<BTreeMap<(String, String), Runs>>);

#[derive(Debug, Default)]
struct Runs {
    minute: u128,
    count: u64,
}

impl DueRuns {
    /// Counts a run, and returns whether it gets a row in the audit log.
    pub(super) fn add(&self, capability: &str, action: &str, now: Timestamp) -> bool {
        let minute = u128::from(now.as_millis()) / MINUTE.as_millis();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = all.entry((capability.to_owned(), action.to_owned())).or_default();
        if runs.minute != minute {
            let left_out = runs.count.saturating_sub(ROWS);
            if left_out > 0 {
                tracing::warn!(
                    capability,
                    action,
                    left_out,
                    "there were too many runs, so these were left out of the audit log"
                );
            }
            *runs = Runs { minute, count: 0 };
        }
        runs.count += 1;
        runs.count <= ROWS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_has_so_many_rows_in_a_minute_and_others_do_not_notice() {
        let runs = DueRuns::default();
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1_000);
        let added = (0..ROWS + 5).filter(|_| runs.add("notes", "remind", at(0))).count();
        assert_eq!(added as u64, ROWS);
        assert!(runs.add("notes", "sweep", at(0)));
        assert!(!runs.add("notes", "remind", at(59)));
        assert!(runs.add("notes", "remind", at(60)));
    }
}
