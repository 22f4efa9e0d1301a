//! A rate limit: an amount for each period, such as a minute.

use crate::Timestamp;
use std::time::Duration;

/// A bucket that refills evenly over a period (the generic cell rate algorithm), so a burst may be as
/// large as the limit. The default is full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bucket {
    /// When the bucket is full again, in microseconds since the Unix epoch.
    full_at: u64,
}

pub const MINUTE: Duration = Duration::from_secs(60);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

impl Bucket {
    /// Returns the bucket after an amount is taken out. `limit` is what the bucket holds and what it refills
    /// in one `period`. If less than the amount is left, the error is the time until enough is left, at most
    /// one period. An amount above the limit is always refused.
    pub fn take(
        self,
        amount: u64,
        (limit, period): (u64, Duration),
        now: Timestamp,
    ) -> Result<Self, Duration> {
        let (now, period) = (micros(now), period.as_micros() as u64);
        let refill = u128::from(amount) * u128::from(period) / u128::from(limit.max(1));
        let refill = u64::try_from(refill).unwrap_or(u64::MAX);
        let full_at = self.full_at.max(now).saturating_add(refill);
        match (full_at - now).checked_sub(period) {
            None | Some(0) => Ok(Self { full_at }),
            Some(wait) => Err(Duration::from_micros(wait.min(period))),
        }
    }

    /// Returns whether the bucket is full: nothing has been taken, or all has been refilled.
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
                bucket = bucket.take(limit / 7, (limit, MINUTE), at(0)).unwrap();
            }
            bucket = bucket.take(limit % 7, (limit, MINUTE), at(0)).unwrap();
            assert!(bucket.take(1, (limit, MINUTE), at(0)).is_err());
            let wait = bucket.take(limit, (limit, MINUTE), at(59)).unwrap_err().as_millis();
            assert!((999..=1000).contains(&wait), "{limit}: {wait}");
            assert!(bucket.take(limit, (limit, MINUTE), at(60)).is_ok() && bucket.is_full(at(60)));
        }
        let minute = (600, MINUTE);
        let half = Bucket::default().take(600, minute, at(0)).unwrap();
        assert!(half.take(300, minute, at(30)).is_ok() && half.take(301, minute, at(30)).is_err());
    }
}
