//! A limit for each minute.

use crate::Timestamp;
use std::time::Duration;

/// A bucket that refills evenly over a minute (the generic cell rate algorithm), so a burst may be as
/// large as the limit. The default is full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bucket {
    /// When the bucket is full again, in microseconds.
    full_at: u64,
}

const MINUTE_US: u64 = 60_000_000;

impl Bucket {
    /// Takes an amount out. The limit is the amount for a minute. If not so much is left, the error is the
    /// time until it is.
    pub fn take(self, amount: u64, limit: u64, now: Timestamp) -> Result<Self, Duration> {
        let now = micros(now);
        let refill = amount.saturating_mul(MINUTE_US) / limit.max(1);
        let full_at = self.full_at.max(now).saturating_add(refill);
        match (full_at - now).checked_sub(MINUTE_US) {
            None | Some(0) => Ok(Self { full_at }),
            Some(wait) => Err(Duration::from_micros(wait.min(MINUTE_US))),
        }
    }

    /// Returns the amount that is taken and not refilled.
    pub fn taken(self, limit: u64, now: Timestamp) -> u64 {
        let left = self.full_at.saturating_sub(micros(now));
        left.saturating_mul(limit).div_ceil(MINUTE_US)
    }

    /// Returns whether nothing is taken.
    pub fn is_full(self, now: Timestamp) -> bool {
        self.full_at <= micros(now)
    }
}

fn micros(at: Timestamp) -> u64 {
    at.as_millis().saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_the_limit_and_refills_evenly() {
        let at = |seconds: u64| Timestamp::from_millis(1_700_000_000_000 + seconds * 1000);
        for limit in [1, 7, 600, 1 << 20] {
            let mut bucket = Bucket::default();
            for _ in 0..7 {
                bucket = bucket.take(limit / 7, limit, at(0)).unwrap();
            }
            bucket = bucket.take(limit % 7, limit, at(0)).unwrap();
            assert!(bucket.take(1, limit, at(0)).is_err());
            assert_eq!(bucket.taken(limit, at(0)), limit);
            let wait = bucket.take(limit, limit, at(59)).unwrap_err().as_millis();
            assert!((999..=1000).contains(&wait), "{limit}: {wait}");
            assert!(bucket.take(limit, limit, at(60)).is_ok() && bucket.is_full(at(60)));
        }
        let half = Bucket::default().take(600, 600, at(0)).unwrap();
        assert!(half.take(300, 600, at(30)).is_ok() && half.take(301, 600, at(30)).is_err());
    }
}
