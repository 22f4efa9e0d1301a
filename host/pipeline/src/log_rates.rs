//! The bytes that each capability has logged in the last minute. Each node counts by itself.

use portolan_vocabulary::{Bucket, Quota, Quotas, Timestamp};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// One bucket for each capability of the catalog that has logged something.
#[derive(Debug, Default)]
pub(crate) struct LogRates(Mutex<HashMap<Arc<str>, Bucket>>);

impl LogRates {
    /// Counts a message of a capability, and returns whether its quota allows it.
    pub(super) fn admit(
        &self,
        capability: &Arc<str>,
        bytes: usize,
        quotas: &Quotas,
        now: Timestamp,
    ) -> bool {
        let Some(limit) = quotas.limit(capability, Quota::LogBytesPerMinute) else { return true };
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(Arc::clone(capability)).or_default();
        match bucket.take(bytes as u64, limit, now) {
            Ok(left) => {
                *bucket = left;
                true
            }
            Err(_wait) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_logs_as_much_as_its_quota_and_others_do_not_notice() {
        let (rates, quotas) = (LogRates::default(), Quotas::default());
        let limit = quotas.limit("one", Quota::LogBytesPerMinute).unwrap() as usize;
        let (one, other) = (Arc::from("one"), Arc::from("other"));
        let now = Timestamp::from_millis(1_000_000);
        assert!(rates.admit(&one, limit, &quotas, now));
        assert!(!rates.admit(&one, limit / 10, &quotas, now));
        assert!(rates.admit(&other, limit, &quotas, now));
        let later = Timestamp::from_millis(1_000_000 + 60_000);
        assert!(rates.admit(&one, limit, &quotas, later));
    }
}
