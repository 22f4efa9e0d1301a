//! Instants. Nothing here reads the clock: the caller of a build passes the time.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

/// Names of UTC after a time.
const ZONES: [&str; 2] = [" UTC", " Z"];
/// Reads the dates of RSS, whatever day of the week they name.
const RFC_2822: jiff::fmt::rfc2822::DateTimeParser =
    jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);

/// An instant to the millisecond, written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text that cannot be parsed as an instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither a date nor a time")]
pub struct NoInstant(String);

impl Timestamp {
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub fn as_millis(self) -> i64 {
        self.0
    }

    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(formatter, "{instant:.3}"),
            Err(_) => write!(formatter, "{}ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = NoInstant;

    /// Parses RFC 3339, RFC 2822, or a date, which means its first instant in UTC.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // Some boards name the zone.
        let text = ZONES.iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text).trim_end();
        let mail = || RFC_2822.parse_timestamp(text).ok();
        let instant = text.parse::<jiff::Timestamp>().ok().or_else(mail).or_else(|| {
            let date: jiff::civil::Date = text.get(..10)?.parse().ok()?;
            let clock = text.get(10..).is_some_and(|rest| rest.contains(['T', ' ']));
            let zone = jiff::tz::TimeZone::UTC;
            match clock {
                // A time without an offset is UTC, as some boards write it.
                true => text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(zone),
                false => date.to_zoned(zone),
            }
            .ok()
            .map(|zoned| zoned.timestamp())
        });
        instant
            .map(|instant| Self(instant.as_millisecond()))
            .ok_or_else(|| NoInstant(text.to_owned()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date-time",
            "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$",
        })
    }
}

/// Returns a duration of this many days.
pub const fn days(count: u64) -> Duration {
    Duration::from_secs(count * 24 * 3600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_dates_are_read_and_instants_written() {
        for (text, written) in [
            ("2026-11-21T18:30:00Z", "2026-11-21T18:30:00.000Z"),
            ("2026-11-21T10:30:00.045-08:00", "2026-11-21T18:30:00.045Z"),
            ("2026-11-21", "2026-11-21T00:00:00.000Z"),
            (" 2026-11-21T18:30:00 ", "2026-11-21T18:30:00.000Z"),
            ("2026-11-21 18:30:00 UTC", "2026-11-21T18:30:00.000Z"),
            ("Fri, 21 Nov 2026 10:30:00 -0800", "2026-11-21T18:30:00.000Z"),
            ("21 Nov 2026 18:30:00 GMT", "2026-11-21T18:30:00.000Z"),
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), written);
        }
        for text in ["", "yesterday", "21/11/2026", "2026-13-01", "2026-11-21T99:00"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_time_since_a_future_instant_is_zero() {
        let (now, day) = (Timestamp::from_millis(0), days(1));
        assert_eq!(now.since(now.after(day)), Duration::ZERO);
        assert_eq!(now.since(now.before(day)), day);
    }
}
