//! Numbers and instants as both databases store them: signed integers of 64 bits.

use portolan_vocabulary::Timestamp;

/// Returns the largest signed number in place of a number that is too large.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns 0 in place of a negative number.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millis(unsigned(millis))
}
