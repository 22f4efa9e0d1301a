//! Numbers and instants as both databases store them: signed integers of 64 bits.

use portolan_vocabulary::Timestamp;

/// Converts a number to a signed one. A number that is too large becomes the largest signed number.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a number to an unsigned one. A negative number becomes 0.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millis(unsigned(millis))
}
