//! Instants, and the one function that reads the system's time.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Milliseconds since the Unix epoch. Written as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub fn as_millis(self) -> u64 {
        self.0
    }

    pub fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// Returns the instant that is later by `time`.
    pub fn plus(self, time: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Returns the day of the instant in UTC, in the format of ISO 8601.
    pub fn day(self) -> String {
        self.to_string().chars().take_while(|letter| *letter != 'T').collect()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        match jiff::Timestamp::from_millisecond(millis) {
            Ok(instant) => write!(formatter, "{instant:.3}"),
            Err(_) => write!(formatter, "+{millis}ms"),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    /// Parses RFC 3339; instants before 1970 become 1970.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let instant: jiff::Timestamp = text.parse()?;
        Ok(Self(u64::try_from(instant.as_millisecond()).unwrap_or(0)))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn is_written_as_rfc_3339_with_milliseconds() {
        let instant = Timestamp::from_millis(1_795_285_800_000);
        assert_eq!(instant.to_string(), "2026-11-21T18:30:00.000Z");
        assert_eq!(instant.day(), "2026-11-21");
        assert_eq!(
            Timestamp::from_millis(1_795_285_800_045).to_string(),
            "2026-11-21T18:30:00.045Z"
        );
    }
}
