//! When a subscription is read again.

use crate::limits::{FIRST_RETRY, JITTER_SHARE, LONGEST_POLL, LONGEST_RETRY, POLL_EVERY};
use portolan_sdk::prelude::*;

/// Returns the time until the next reading after one that has not failed: that of the calendar, if it is longer than
/// the usual one, and a share at random, so that not all subscriptions of one server are read at once. `share` is from
/// 0 to 1.
pub(super) fn until_next(suggested: Option<u64>, share: f64) -> u64 {
    let interval = suggested.unwrap_or(0).clamp(POLL_EVERY, LONGEST_POLL);
    interval + part(interval / JITTER_SHARE, share)
}

/// Returns the time until the next reading after so many failures in a row: it doubles up to a day. A server that asks
/// for a longer time gets it, up to the longest time between two readings.
pub(super) fn until_retry(failures: u32, retry_after_s: Option<u64>, share: f64) -> u64 {
    let doubled = FIRST_RETRY.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let own = doubled.min(LONGEST_RETRY);
    let asked = retry_after_s.unwrap_or(0).saturating_mul(SECOND).min(LONGEST_POLL);
    own.max(asked) + part(own / JITTER_SHARE, share)
}

fn part(whole: u64, share: f64) -> u64 {
    (whole as f64 * share.clamp(0.0, 1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_can_ask_for_fewer_readings_but_not_for_more() {
        assert_eq!(until_next(None, 0.0), POLL_EVERY);
        assert_eq!(until_next(Some(HOUR), 0.0), POLL_EVERY);
        assert_eq!(until_next(Some(DAY), 0.0), DAY);
        assert_eq!(until_next(Some(DAY), 1.0), DAY + DAY / JITTER_SHARE);
        assert_eq!(until_next(Some(365 * DAY), 0.0), LONGEST_POLL);
    }

    #[test]
    fn failures_double_the_wait_up_to_a_day() {
        let waits: Vec<u64> = (1..=8).map(|failures| until_retry(failures, None, 0.0)).collect();
        let minutes: Vec<u64> = waits.iter().map(|wait| wait / MINUTE).collect();
        assert_eq!(minutes, [30, 60, 120, 240, 480, 960, 1440, 1440]);
        assert_eq!(until_retry(u32::MAX, None, 0.0), LONGEST_RETRY);
        assert_eq!(until_retry(1, Some(7200), 0.0), 2 * HOUR);
        assert_eq!(until_retry(1, Some(u64::MAX), 0.0), LONGEST_POLL);
    }
}
