//! Dates, times, durations and time zones of a file.

use crate::{
    ics::definitions::Definition,
    ics::lines::*,
    limits::LONGEST_BLOCK,
    refusals::*,
    rule::*,
    zones::{self, Zone},
};
use jiff::{SignedDuration, civil::DateTime};

/// A time of a file. A date is stored as its midnight.
#[derive(Debug, Clone)]
pub(crate) struct Time {
    pub(crate) local: DateTime,
    pub(crate) zone: Zone,
    pub(crate) is_date: bool,
    /// Whether the file names no zone for it, or one that nobody knows.
    is_floating: bool,
}

impl Time {
    /// Takes the zone of another time, if this one has none and the other one has.
    pub(crate) fn in_zone_of(self, other: &Self) -> Self {
        match self.is_floating && !other.is_floating && !other.zone.is_utc() {
            true => Self { zone: other.zone.clone(), ..self },
            false => self,
        }
    }

    pub(crate) fn instant(&self) -> i64 {
        self.zone.instant(self.local)
    }

    /// Returns the local time in another zone. A date is the same everywhere, and so is a time for
    /// which the file names no zone.
    pub(crate) fn seen_in(&self, zone: &Zone) -> DateTime {
        match self.is_date || self.is_floating || self.zone.name() == zone.name() {
            true => self.local,
            false => zone.local(self.instant()),
        }
    }
}

/// The zones of a file, keyed by the names that it uses.
#[derive(Debug)]
pub(crate) struct FileZones {
    /// The zone of times without a zone; `None` if neither the file nor the person has one, so that they are
    /// read as UTC.
    floating: Option<Zone>,
    /// The number and the name of the first line whose times were read as UTC for this reason.
    pub(crate) assumed_utc: Option<(u32, String)>,
    /// Names of the file, each with the zone that is used for it.
    pub(crate) aliases: Vec<(String, String)>,
    /// The zones that the file itself defines.
    pub(crate) definitions: Vec<(String, Definition)>,
    /// The names that are not known, each with its first line.
    pub(crate) unknown: Vec<(String, u32)>,
    now: DateTime,
    known: Vec<(String, Zone)>,
}

impl FileZones {
    pub(crate) fn new(floating: Option<Zone>, now: i64) -> Self {
        let now = Zone::utc().local(now);
        let (aliases, definitions) = (Vec::new(), Vec::new());
        let (unknown, known) = (Vec::new(), Vec::new());
        Self { floating, assumed_utc: None, aliases, definitions, unknown, now, known }
    }

    /// Returns the zone with a name of the file at a local time.
    fn find(&mut self, name: &str, at: DateTime) -> Option<Zone> {
        if let Some((_, zone)) = self.known.iter().find(|(known, _)| known == name) {
            return Some(zone.clone());
        }
        let alias = self.aliases.iter().find(|(alias, _)| alias == name);
        match zones::find(name).or_else(|| zones::find(&alias?.1)) {
            Some(zone) => {
                self.known.push((name.to_owned(), zone.clone()));
                Some(zone)
            }
            None => {
                let definition = self.definitions.iter().find(|(defined, _)| defined == name);
                // Past occurrences are not imported, so the rules that are in force now count.
                definition?.1.zone(at.max(self.now))
            }
        }
    }

    /// Returns the zone that a property names, or else the floating zone.
    fn of(&mut self, line: &Line, at: DateTime) -> Zone {
        let Some(name) = line.parameter("TZID") else {
            if self.floating.is_none() {
                self.assumed_utc.get_or_insert_with(|| (line.number, line.name.clone()));
            }
            return self.floating();
        };
        if let Some(zone) = self.find(name, at) {
            return zone;
        }
        if !self.unknown.iter().any(|(known, _)| known == name) {
            self.unknown.push((name.to_owned(), line.number));
        }
        self.floating()
    }

    fn floating(&self) -> Zone {
        self.floating.clone().unwrap_or_else(Zone::utc)
    }

    /// Parses the value of a property that is one time.
    pub(crate) fn time(&mut self, line: &Line) -> Result<Time> {
        let mut times = self.times(line)?;
        match (times.pop(), times.is_empty()) {
            (Some(time), true) => Ok(time),
            _ => Err(line.wrong("date-time", "one time")),
        }
    }

    /// Parses the value of a property that is a list of times.
    pub(crate) fn times(&mut self, line: &Line) -> Result<Vec<Time>> {
        line.sound()?.items().map(|text| self.one(line, text)).collect()
    }

    /// Parses the value of a property that is a list of periods: each a start, and an end or a
    /// duration. Returns the starts, and the ends in their zones.
    pub(crate) fn periods(&mut self, line: &Line) -> Result<Vec<(Time, DateTime)>> {
        line.sound()?.items().map(|text| self.period(line, text)).collect()
    }

    fn period(&mut self, line: &Line, text: &str) -> Result<(Time, DateTime)> {
        let wrong = || line.wrong("period", "a start, a slash and an end");
        let (start, end) = text.split_once('/').ok_or_else(wrong)?;
        let start = self.one(line, start)?;
        let end = match duration(end) {
            Some(length) => start.local.checked_add(length).map_err(|_error| wrong())?,
            None => self.one(line, end)?.seen_in(&start.zone),
        };
        match zones::millis(end.duration_since(start.local)) <= LONGEST_BLOCK {
            true => Ok((start, end)),
            false => Err(line.wrong("period", "at most 366 days")),
        }
    }

    fn one(&mut self, line: &Line, text: &str) -> Result<Time> {
        let text = text.trim();
        let dates = line.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("DATE"));
        let is_date = dates || text.len() == 8;
        let utc = text.strip_suffix('Z');
        let local = match is_date {
            true => date(text).map(|day| day.at(0, 0, 0, 0)),
            false => date_time(utc.unwrap_or(text)),
        };
        let expected = "a date or a time, such as 20261101T090000Z";
        let local = local.ok_or_else(|| line.wrong("date-time", expected))?;
        let zone = match utc {
            Some(_) => Zone::utc(),
            None => self.of(line, local),
        };
        let name = line.parameter("TZID");
        let is_known =
            name.is_some_and(|name| !self.unknown.iter().any(|(known, _)| known == name));
        let is_floating = utc.is_none() && !is_known;
        Ok(Time { local, zone, is_date, is_floating })
    }
}

/// Parses a DURATION of RFC 5545; returns `None` if it is something else or negative.
pub(crate) fn duration(text: &str) -> Option<SignedDuration> {
    let text = text.trim().strip_prefix('+').unwrap_or(text.trim());
    let text = text.strip_prefix('P').filter(|text| !text.is_empty() && !text.ends_with('T'))?;
    let (days, time) = text.split_once('T').unwrap_or((text, ""));
    let seconds = sum(days, &[('W', 604_800), ('D', 86_400)])?
        .checked_add(sum(time, &[('H', 3_600), ('M', 60), ('S', 1)])?)?;
    Some(SignedDuration::from_secs(seconds))
}

/// Returns the sum of numbers with units, each unit at most once and in order; `None` if the text
/// is anything else.
fn sum(text: &str, units: &[(char, i64)]) -> Option<i64> {
    let (mut rest, mut units, mut sum) = (text, units.iter(), 0_i64);
    while let Some(end) = rest.find(|letter: char| !letter.is_ascii_digit()) {
        let (number, after) = rest.split_at_checked(end)?;
        let unit = after.chars().next()?;
        let (_, seconds) = units.by_ref().find(|(known, _)| *known == unit)?;
        sum = sum.checked_add(number.parse::<i64>().ok()?.checked_mul(*seconds)?)?;
        rest = after.get(unit.len_utf8()..)?;
    }
    rest.is_empty().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [
            ("PT1H30M", Some(5_400)),
            ("P1D", Some(86_400)),
            ("+P1W", Some(604_800)),
            ("P1DT12H", Some(129_600)),
            ("PT0S", Some(0)),
            ("-PT1H", None),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("PT1M1H", None),
            ("P1H", None),
            ("PT1", None),
            ("PT99999999999999999999S", None),
            ("PT9999999999999999H9999999999999999M", None),
        ] {
            assert_eq!(duration(text).map(|duration| duration.as_secs()), seconds, "{text}");
        }
    }

    #[test]
    fn times_have_zones() {
        let mut zones = FileZones::new(Zone::named("Asia/Tokyo"), 0);
        zones.aliases.push(("Home".into(), "Europe/Berlin".into()));
        let both = "2026-11-01T09:00:00 UTC,2026-11-02T09:00:00 UTC";
        for (text, expected) in [
            ("EXDATE:20261101T090000Z,20261102T090000Z", both),
            ("DTSTART:20261101T090000", "2026-11-01T09:00:00 Asia/Tokyo"),
            ("DTSTART:20261101T090000Z", "2026-11-01T09:00:00 UTC"),
            ("DTSTART;TZID=Home:20261101T090000", "2026-11-01T09:00:00 Europe/Berlin"),
            ("DTSTART;VALUE=DATE:20261101", "2026-11-01T00:00:00 Asia/Tokyo"),
            ("DTSTART;TZID=Mars/Olympus:20261101T090000", "2026-11-01T09:00:00 Asia/Tokyo"),
            ("DTSTART;TZID=Mars/Olympus:20261101T090000Z", "2026-11-01T09:00:00 UTC"),
            ("DTSTART:tomorrow", "ics_invalid"),
            ("DTSTART;VALUE=DATE:20261101T090000", "ics_invalid"),
        ] {
            let line = crate::ics::lines::read(text).unwrap().remove(0);
            let shown = |time: &Time| format!("{} {}", time.local, time.zone.name());
            let found = match zones.times(&line) {
                Ok(times) => times.iter().map(shown).collect::<Vec<_>>().join(","),
                Err(error) => portolan_sdk::Refusal::from(error).code,
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
