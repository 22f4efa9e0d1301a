//! Times in milliseconds, and instants as texts.

use jiff::{Timestamp, tz::TimeZone};

pub const SECOND: u64 = 1_000;
pub const MINUTE: u64 = 60 * SECOND;
pub const HOUR: u64 = 60 * MINUTE;
pub const DAY: u64 = 24 * HOUR;

/// Returns milliseconds as seconds, rounded up.
pub fn seconds(millis: u64) -> u32 {
    u32::try_from(millis.div_ceil(SECOND)).unwrap_or(u32::MAX)
}

/// Formats milliseconds since the Unix epoch as RFC 3339 in UTC. Returns an empty text for times
/// after the year 9999.
pub fn rfc3339(millis: u64) -> String {
    let instant = Timestamp::from_millisecond(i64::try_from(millis).unwrap_or(i64::MAX));
    instant.map_or_else(|_| String::new(), |instant| format!("{instant:.3}"))
}

/// Parses RFC 3339 as milliseconds since the Unix epoch. Returns `None` for other texts and for
/// times before 1970.
pub fn parse(text: &str) -> Option<u64> {
    let instant: Timestamp = text.parse().ok()?;
    u64::try_from(instant.as_millisecond()).ok()
}

/// Returns the year in UTC; `i16::MAX` for times after the year 9999.
pub fn year(millis: u64) -> i16 {
    let instant = Timestamp::from_millisecond(i64::try_from(millis).unwrap_or(i64::MAX));
    instant.map_or(i16::MAX, |instant| instant.to_zoned(TimeZone::UTC).year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_come_back() {
        assert_eq!(rfc3339(1_795_000_000_123), "2026-11-18T11:06:40.123Z");
        assert_eq!(parse("2026-11-18T12:06:40.123+01:00"), Some(1_795_000_000_123));
        assert_eq!(parse("2026-11-18"), None);
        assert_eq!(parse("1969-01-01T00:00:00Z"), None);
        assert_eq!(year(1_795_000_000_123), 2026);
    }
}
