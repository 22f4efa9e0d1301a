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
pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

impl Bucket {
    /// Returns the bucket that is full again at a time, in microseconds since the Unix epoch.
    pub fn full_at(micros: u64) -> Self {
        Self { full_at: micros }
    }

    /// Returns when the bucket is full again, in microseconds since the Unix epoch.
    pub fn micros(self) -> u64 {
        self.full_at
    }

    /// Returns the bucket after an amount is taken out. `limit` is what the bucket holds and what it refills
    /// in one `period`. If less than the amount is left, the error is the time until enough is left, at most
    /// one period. An amount above the limit is always refused.
    pub fn take(
        self,
        amount: u64,
        (limit, period): (u64, Duration),
        now: Timestamp,
    ) -> Result<Self, Duration> {
        let taken = self.charge(amount, (limit, period), now);
        let (now, period) = (micros(now), period.as_micros() as u64);
        match (taken.full_at - now).checked_sub(period) {
            None | Some(0) => Ok(taken),
            Some(wait) => Err(Duration::from_micros(wait.min(period))),
        }
    }

    /// Returns the bucket after an amount is taken out that was used already, even if less is left.
    #[must_use]
    pub fn charge(self, amount: u64, (limit, period): (u64, Duration), now: Timestamp) -> Self {
        let refill = u128::from(amount) * period.as_micros() / u128::from(limit.max(1));
        let refill = u64::try_from(refill).unwrap_or(u64::MAX);
        Self { full_at: self.full_at.max(micros(now)).saturating_add(refill) }
    }

    /// Returns how much is left, rounded down.
    pub fn left(self, (limit, period): (u64, Duration), now: Timestamp) -> u64 {
        let used = u128::from(self.full_at.saturating_sub(micros(now))) * u128::from(limit);
        let used = used.div_ceil(period.as_micros().max(1));
        limit.saturating_sub(u64::try_from(used).unwrap_or(u64::MAX))
    }

    /// Returns the time until the bucket is full.
    pub fn full_in(self, now: Timestamp) -> Duration {
        Duration::from_micros(self.full_at.saturating_sub(micros(now)))
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
        let spent = Bucket::default().charge(900, minute, at(0));
        assert_eq!((spent.left(minute, at(0)), spent.left(minute, at(60))), (0, 300));
        assert_eq!(
            (spent.full_in(at(0)), Bucket::default().left(minute, at(0))),
            (MINUTE * 3 / 2, 600)
        );
        let half = Bucket::default().take(600, minute, at(0)).unwrap();
        assert!(half.take(300, minute, at(30)).is_ok() && half.take(301, minute, at(30)).is_err());
    }
}
