//! Limits how many runs of timers and deliveries get a row in the audit log, so that a timer that sets itself
//! again cannot fill the database.

use portolan_vocabulary::{MINUTE, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The maximum number of rows in a minute for each action.
const MAX_ROWS_PER_MINUTE: u64 = 60;

/// The runs of each action, by capability and name, in the last minute in which it ran.
#[derive(Debug, Default)]
pub(super) struct AuditLimits(Mutex<BTreeMap<(String, String), Runs>>);

#[derive(Debug, Default)]
struct Runs {
    minute: u128,
    count: u64,
}

impl AuditLimits {
    /// Counts a run, and returns whether it gets a row in the audit log.
    pub(super) fn admit(&self, capability: &str, action: &str, now: Timestamp) -> bool {
        let minute = u128::from(now.as_millis()) / MINUTE.as_millis();
        let mut by_action = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = by_action.entry((capability.to_owned(), action.to_owned())).or_default();
        if runs.minute != minute {
            let left_out = runs.count.saturating_sub(MAX_ROWS_PER_MINUTE);
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
        runs.count <= MAX_ROWS_PER_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_has_its_own_limit_of_rows_per_minute() {
        let runs = AuditLimits::default();
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1_000);
        let added =
            (0..MAX_ROWS_PER_MINUTE + 5).filter(|_| runs.admit("notes", "remind", at(0))).count();
        assert_eq!(added as u64, MAX_ROWS_PER_MINUTE);
        assert!(runs.admit("notes", "sweep", at(0)));
        assert!(!runs.admit("notes", "remind", at(59)));
        assert!(runs.admit("notes", "remind", at(60)));
    }
}
