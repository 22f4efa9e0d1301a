//! The clock changes of a time zone, written as a `VTIMEZONE`.

use crate::ics::write::{Writer, local};
use crate::zones::Zone;
use jiff::civil::{DateTime, Weekday};
use jiff::{Timestamp, tz::Offset};

/// Clock changes of the same kind, in order.
#[derive(Debug)]
struct Observance {
    kind: Kind,
    /// The times of the changes, as the local clock shows them before the change.
    starts: Vec<DateTime>,
}

#[derive(Debug, PartialEq, Eq)]
struct Kind {
    from: Offset,
    to: Offset,
    name: String,
    is_summer: bool,
}

/// The least number of yearly changes of the same kind that are written as a rule.
const ENOUGH: usize = 5;

/// Writes the `VTIMEZONE` of a zone between two instants.
pub fn write(writer: &mut Writer, zone: &Zone, from: i64, to: i64) {
    writer.line("BEGIN:VTIMEZONE");
    writer.line(&format!("TZID:{}", zone.name()));
    let last_year = zone.date(to).year();
    for Observance { kind, starts } in observances(zone, from, to) {
        // The first changes may follow an older rule, so each change is tried as the rule's first.
        let ruled = (0..starts.len()).find_map(|at| {
            let (head, tail) = starts.split_at_checked(at)?;
            Some((head, tail.first()?, yearly(tail, last_year)?))
        });
        match ruled {
            Some((head, first, rule)) => {
                kind.write(writer, head, None);
                kind.write(writer, &[*first], Some(&rule));
            }
            None => kind.write(writer, &starts, None),
        }
    }
    writer.line("END:VTIMEZONE");
}

impl Kind {
    /// Writes an observance with its first change, the rule that the later changes follow, if there
    /// is one, and the other changes in `starts`.
    fn write(&self, writer: &mut Writer, starts: &[DateTime], rule: Option<&str>) {
        let Some((first, others)) = starts.split_first() else { return };
        let kind = if self.is_summer { "DAYLIGHT" } else { "STANDARD" };
        writer.line(&format!("BEGIN:{kind}"));
        writer.line(&format!("DTSTART:{}", local(*first)));
        writer.line(&format!("TZOFFSETFROM:{}", offset(self.from)));
        writer.line(&format!("TZOFFSETTO:{}", offset(self.to)));
        writer.text("TZNAME", &self.name);
        rule.into_iter().for_each(|rule| writer.line(rule));
        others.iter().for_each(|at| writer.line(&format!("RDATE:{}", local(*at))));
        writer.line(&format!("END:{kind}"));
    }
}

fn observances(zone: &Zone, from: i64, to: i64) -> Vec<Observance> {
    // Instants beyond the years that jiff supports are replaced by the first or last one.
    let edge = |at: i64| {
        let edge = if at < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(at).unwrap_or(edge)
    };
    let (from, to) = (edge(from), edge(to));
    let rules = zone.rules();
    let mut before = rules.to_offset(from);
    let mut found: Vec<Observance> = Vec::new();
    for change in rules.following(from).take_while(|change| change.timestamp() <= to) {
        let at = before.to_datetime(change.timestamp());
        let kind = Kind {
            from: before,
            to: change.offset(),
            name: change.abbreviation().to_owned(),
            is_summer: change.dst().is_dst(),
        };
        match found.iter_mut().find(|found| found.kind == kind) {
            Some(known) => known.starts.push(at),
            None => found.push(Observance { kind, starts: vec![at] }),
        }
        before = change.offset();
    }
    if found.is_empty() {
        let info = rules.to_offset_info(from);
        let name = info.abbreviation().to_owned();
        let kind = Kind { from: before, to: before, name, is_summer: info.dst().is_dst() };
        found.push(Observance { kind, starts: vec![before.to_datetime(from)] });
    }
    found
}

/// Returns the rule that all changes follow up to the last year or the one before: one change a
/// year, on the same weekday of the same month. `None` if there is no such rule or fewer than
/// [`ENOUGH`] changes.
fn yearly(starts: &[DateTime], last_year: i16) -> Option<String> {
    let first = starts.first()?;
    let follows = starts.iter().zip(first.year()..).all(|(at, year)| {
        (at.year(), at.month(), at.time()) == (year, first.month(), first.time())
    });
    let reaches = starts.last()?.year() >= last_year - 1;
    let same = starts.iter().all(|at| at.weekday() == first.weekday());
    if !follows || !reaches || !same || starts.len() < ENOUGH {
        return None;
    }
    let nth = |at: &DateTime| (at.day() - 1) / 7 + 1;
    let is_last = |at: &DateTime| at.day() + 7 > at.days_in_month();
    let nth = match (starts.iter().all(is_last), starts.iter().all(|at| nth(at) == nth(first))) {
        (true, _) => -1,
        (false, true) => nth(first),
        (false, false) => return None,
    };
    let (month, day) = (first.month(), day_name(first.weekday()));
    Some(format!("RRULE:FREQ=YEARLY;BYMONTH={month};BYDAY={nth}{day}"))
}

/// Returns the name of the weekday as in `BYDAY`.
pub fn day_name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "MO",
        Weekday::Tuesday => "TU",
        Weekday::Wednesday => "WE",
        Weekday::Thursday => "TH",
        Weekday::Friday => "FR",
        Weekday::Saturday => "SA",
        Weekday::Sunday => "SU",
    }
}

/// Formats the offset such as `-0800`; with seconds only if there are any.
fn offset(offset: Offset) -> String {
    let seconds = offset.seconds();
    let (sign, seconds) = if seconds < 0 { ('-', -seconds) } else { ('+', seconds) };
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    match seconds % 60 {
        0 => format!("{sign}{hours:02}{minutes:02}"),
        rest => format!("{sign}{hours:02}{minutes:02}{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::time::DAY;

    fn written(zone: &str) -> String {
        written_from(zone, "2025-06-01T00:00:00Z", 3_650)
    }

    fn written_from(zone: &str, from: &str, days: i64) -> String {
        let mut writer = Writer::default();
        let from = from.parse::<Timestamp>().unwrap().as_millisecond();
        write(&mut writer, &Zone::named(zone).unwrap(), from, from + days * DAY as i64);
        writer.into_inner().replace("\r\n", "\n")
    }

    #[test]
    fn a_rule_begins_with_its_first_change() {
        // Until 2006 the clocks of the United States were changed on other Sundays.
        let la = written_from("America/Los_Angeles", "2004-01-01T00:00:00Z", 7_300);
        for part in [
            "DTSTART:20040404T020000\nTZOFFSETFROM:-0800\nTZOFFSETTO:-0700\nTZNAME:PDT\nRDATE:20050403T020000\nRDATE:20060402T020000\nEND",
            "DTSTART:20070311T020000\nTZOFFSETFROM:-0800\nTZOFFSETTO:-0700\nTZNAME:PDT\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\nEND",
            "DTSTART:20071104T020000\nTZOFFSETFROM:-0700\nTZOFFSETTO:-0800\nTZNAME:PST\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\nEND",
        ] {
            assert!(la.contains(part), "{part}: {la}");
        }
        assert_eq!(la.matches("BEGIN:DAYLIGHT").count(), 2, "{la}");
        // The years that jiff supports end within this range.
        let last = written_from("Europe/Berlin", "9989-01-01T00:00:00Z", 7_300);
        assert_eq!(last.matches("RRULE").count(), 2, "{last}");
    }

    #[test]
    fn yearly_changes_are_written_as_rules() {
        let la = written("America/Los_Angeles");
        assert_eq!(
            la,
            "BEGIN:VTIMEZONE\nTZID:America/Los_Angeles\nBEGIN:STANDARD\nDTSTART:20251102T020000\nTZOFFSETFROM:-0700\nTZOFFSETTO:-0800\nTZNAME:PST\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:20260308T020000\nTZOFFSETFROM:-0800\nTZOFFSETTO:-0700\nTZNAME:PDT\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\nEND:DAYLIGHT\nEND:VTIMEZONE\n"
        );
        let berlin = written("Europe/Berlin");
        assert!(
            berlin.contains("BYMONTH=3;BYDAY=-1SU") && berlin.contains("BYMONTH=10;BYDAY=-1SU")
        );
        let tokyo = written("Asia/Tokyo");
        assert!(tokyo.contains("TZOFFSETTO:+0900") && !tokyo.contains("RRULE"), "{tokyo}");
        // The clock changes of Morocco depend on Ramadan, so on the moon.
        let rabat = written("Africa/Casablanca");
        assert!(rabat.contains("RDATE:") && !rabat.contains("RRULE"), "{rabat}");
    }
}
