//! How much capabilities may log, so that one of them cannot fill the operator's log.

use portolan_vocabulary::{Bucket, MINUTE, Quota, Quotas, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// How much of its log quota each capability has used up.
#[derive(Debug, Default)]
pub(super) struct LogBudgets(Mutex<BTreeMap<String, Budget>>);

#[derive(Debug, Default)]
struct Budget {
    bucket: Bucket,
    /// Whether the last message was left out.
    exceeded: bool,
}

/// Whether a message may be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Logged,
    /// `first` is whether this is the first message that is left out since one was logged.
    LeftOut {
        first: bool,
    },
}

impl LogBudgets {
    /// Takes the bytes of a message from the budget of a capability, if it has as many left.
    pub(super) fn admit(
        &self,
        capability: &str,
        bytes: usize,
        quotas: &Quotas,
        now: Timestamp,
    ) -> Admission {
        let Some(limit) = quotas.limit(capability, Quota::LogBytesPerMinute) else {
            return Admission::Logged;
        };
        let mut budgets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = match budgets.get_mut(capability) {
            Some(budget) => budget,
            None => budgets.entry(capability.to_owned()).or_default(),
        };
        match budget.bucket.take(bytes as u64, (limit, MINUTE), now) {
            Ok(bucket) => {
                *budget = Budget { bucket, exceeded: false };
                Admission::Logged
            }
            Err(_wait) => {
                let first = !std::mem::replace(&mut budget.exceeded, true);
                Admission::LeftOut { first }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_capability_has_its_own_log_quota() {
        let quotas: Quotas =
            serde_json::from_value(json!({ "log_bytes_per_minute": 100 })).unwrap();
        let at = |seconds: u64| Timestamp::from_millis(1_700_000_000_000 + seconds * 1000);
        let budgets = LogBudgets::default();
        let admit =
            |capability, bytes, second| budgets.admit(capability, bytes, &quotas, at(second));
        assert_eq!(admit("notes", 100, 0), Admission::Logged);
        assert_eq!(admit("notes", 1, 0), Admission::LeftOut { first: true });
        assert_eq!(admit("notes", 1, 0), Admission::LeftOut { first: false });
        assert_eq!(admit("other", 100, 0), Admission::Logged);
        assert_eq!(admit("notes", 50, 30), Admission::Logged);
        assert_eq!(admit("notes", 1, 30), Admission::LeftOut { first: true });
    }
}
