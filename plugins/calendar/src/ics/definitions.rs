//! Time zones that a file defines itself, in a `VTIMEZONE`.

use crate::{
    expand,
    ics::components::Component,
    limits::{MOST_CHANGES, MOST_LISTED, MOST_OBSERVANCES, MOST_ZONE_STEPS},
    rule::*,
    zones::Zone,
};
use jiff::{
    ToSpan,
    civil::{DateTime, Time, Weekday},
};
use std::ops::ControlFlow;

/// The years before now, and after now, in which the changes of a zone without rules are looked
/// for.
const YEARS_BEFORE: i64 = 2;
const YEARS_AFTER: i64 = 10;

/// The definition of a time zone.
#[derive(Debug)]
pub(crate) struct Definition {
    observances: Vec<Observance>,
    /// The changes of the years around now, in order, each with the seconds east of UTC after it.
    changes: Vec<(DateTime, i32)>,
}

/// The changes to one offset from UTC.
#[derive(Debug)]
struct Observance {
    /// The first change, as the local clock shows it before the change.
    start: DateTime,
    /// The seconds east of UTC before and after the changes.
    from: i32,
    to: i32,
    is_summer: bool,
    rule: Option<Rule>,
    /// Other changes.
    others: Vec<DateTime>,
}

impl Definition {
    /// Reads the definition; `None` if nothing in it can be used.
    pub(crate) fn read(zone: &Component, now: DateTime) -> Option<Self> {
        let parts = zone.parts.iter().take(MOST_OBSERVANCES);
        let observances: Vec<_> = parts.filter_map(Observance::read).collect();
        let range =
            (now.saturating_sub(YEARS_BEFORE.years()), now.saturating_add(YEARS_AFTER.years()));
        let (mut changes, mut steps) = (Vec::new(), MOST_ZONE_STEPS);
        for observance in &observances {
            observance.each_change(range, &mut steps, |at| {
                if changes.len() < MOST_CHANGES {
                    changes.push((at, observance.to));
                }
            });
        }
        changes.sort_unstable();
        (!observances.is_empty()).then_some(Self { observances, changes })
    }

    /// Returns the zone with the rules that are in force at this local time: two yearly changes, or
    /// one offset.
    pub(crate) fn zone(&self, at: DateTime) -> Option<Zone> {
        let in_force = |is_summer: bool| {
            let found = self.observances.iter().filter(|found| found.is_summer == is_summer);
            let found = found.filter(|found| found.start <= at && found.is_ruled(at));
            found.max_by_key(|found| found.start)
        };
        let yearly = in_force(false).zip(in_force(true)).and_then(|(standard, summer)| {
            let [from, to] = [summer.change()?, standard.change()?];
            let (standard, summer) = (offset(standard.to), offset(summer.to));
            Zone::of_rule(&format!("{standard}{summer},{from},{to}"))
        });
        yearly.or_else(|| match self.offset(at)? {
            0 => Some(Zone::utc()),
            seconds => Zone::of_rule(&offset(seconds)),
        })
    }

    /// Returns the seconds east of UTC at this local time.
    fn offset(&self, at: DateTime) -> Option<i32> {
        let after = self.changes.partition_point(|(change, _)| *change <= at);
        let last = after.checked_sub(1).and_then(|last| self.changes.get(last));
        let first = || self.observances.iter().min_by_key(|found| found.start);
        last.map(|(_, to)| *to).or_else(|| first().map(|first| first.from))
    }
}

impl Observance {
    fn read(part: &Component) -> Option<Self> {
        let value = |name: &str| Some(part.property(name)?.value.trim());
        let seconds = |name: &str| seconds(value(name)?);
        let start = value("DTSTART")?.trim_end_matches('Z');
        let rule = value("RRULE").and_then(|text| Rule::parse(text).and_then(Rule::bounded).ok());
        let others = part.all("RDATE").flat_map(|line| line.value.split(','));
        Some(Self {
            start: date_time(start).or_else(|| Some(date(start)?.at(0, 0, 0, 0)))?,
            from: seconds("TZOFFSETFROM").or_else(|| seconds("TZOFFSETTO"))?,
            to: seconds("TZOFFSETTO")?,
            is_summer: part.kind == "DAYLIGHT",
            rule: rule.filter(|rule| rule.frequency == Frequency::Yearly),
            others: others.filter_map(|text| date_time(text.trim())).take(MOST_LISTED).collect(),
        })
    }

    /// Whether it has changes each year, also after this local time.
    fn is_ruled(&self, at: DateTime) -> bool {
        self.rule.as_ref().is_some_and(|rule| match rule.end {
            End::Never => true,
            End::Day(last) => last >= at.date(),
            End::Local(last) | End::Utc(last) => last >= at,
            End::Count(_) => false,
        })
    }

    /// Visits the first change, the other ones, and those of the rule in a range.
    fn each_change(
        &self,
        range: (DateTime, DateTime),
        steps: &mut u32,
        mut visit: impl FnMut(DateTime),
    ) {
        self.others.iter().chain([&self.start]).for_each(|change| visit(*change));
        if let Some(rule) = &self.rule {
            expand::starts(rule, self.start, range, steps, |change| {
                if !self.is_ruled(change) {
                    return ControlFlow::Break(());
                }
                visit(change);
                ControlFlow::Continue(())
            });
        }
    }

    /// Returns its yearly change in the form of POSIX, such as `M3.2.0/2`; `None` if it is not one
    /// on a numbered weekday of a month.
    fn change(&self) -> Option<String> {
        let rule = self.rule.as_ref()?;
        let by = &rule.by;
        let [month] = by.months.as_slice() else { return None };
        let [day] = by.days.as_slice() else { return None };
        let rest = [&by.weeks, &by.year_days, &by.positions];
        if rule.interval != 1 || rest.iter().any(|list| !list.is_empty()) {
            return None;
        }
        let nth = match (day.nth, by.month_days.as_slice()) {
            (nth @ 1..=5, []) => nth,
            (-1, []) => 5,
            (0, days) => week(days, *month)?,
            _ => return None,
        };
        let weekday = day.weekday.since(Weekday::Sunday);
        Some(format!("M{month}.{nth}.{weekday}/{}", clock(self.start.time())))
    }
}

/// Returns which week of the month these seven days are; 5 is the last one.
fn week(days: &[i16], month: i16) -> Option<i16> {
    let (first, last) = (*days.first()?, *days.last()?);
    let is_week = days.len() == 7 && last - first == 6 && first > 0;
    let ends_month = match month {
        2 => false,
        4 | 6 | 9 | 11 => last == 30,
        _ => last == 31,
    };
    match first {
        _ if !is_week => None,
        _ if ends_month => Some(5),
        1 | 8 | 15 | 22 => Some((first - 1) / 7 + 1),
        _ => None,
    }
}

fn clock(time: Time) -> String {
    match (time.minute(), time.second()) {
        (0, 0) => time.hour().to_string(),
        (minute, 0) => format!("{}:{minute:02}", time.hour()),
        (minute, second) => format!("{}:{minute:02}:{second:02}", time.hour()),
    }
}

/// Returns the name and the offset in the form of POSIX, such as `<-05>5`.
fn offset(east: i32) -> String {
    let (sign, west) = if east < 0 { ('-', "") } else { ('+', "-") };
    let seconds = east.unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let west = if east == 0 { "" } else { west };
    match (minutes, rest) {
        (0, 0) => format!("<{sign}{hours:02}>{west}{hours}"),
        (_, 0) => format!("<{sign}{hours:02}{minutes:02}>{west}{hours}:{minutes:02}"),
        _ => format!("<{sign}{hours:02}{minutes:02}{rest:02}>{west}{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Parses an offset such as `-0500`, in seconds; `None` from a day on.
fn seconds(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if !matches!(digits.len(), 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number =
        |at: usize| digits.get(at..at + 2).map_or(Some(0), |text| text.parse::<i32>().ok());
    let seconds = number(0)? * 3_600 + number(2)? * 60 + number(4)?;
    (seconds < 86_400).then_some(sign * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ics::{components, lines};

    fn definition(parts: &str) -> Option<Definition> {
        let text = format!(
            "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:x\n{parts}\nEND:VTIMEZONE\nEND:VCALENDAR"
        );
        let (_, found) = components::read(lines::read(&text).unwrap()).unwrap();
        Definition::read(&found[0], "2026-01-01T00:00".parse().unwrap())
    }

    fn part(kind: &str, start: &str, [from, to]: [&str; 2], more: &str) -> String {
        format!(
            "BEGIN:{kind}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}\nX:1\nEND:{kind}\n"
        )
    }

    fn name(parts: &str, at: &str) -> Option<String> {
        let zone = definition(parts)?.zone(at.parse().unwrap());
        zone.map(|zone| zone.name().to_owned())
    }

    #[test]
    fn two_yearly_changes_are_a_rule() {
        let [winter, summer] = [["-0400", "-0500"], ["-0500", "-0400"]];
        for (standard, daylight, expected) in [
            (
                "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
                "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
                Some("<-05>5<-04>4,M3.2.0/2,M11.1.0/2"),
            ),
            (
                "RRULE:FREQ=YEARLY;BYDAY=SU;BYMONTH=10;BYMONTHDAY=25,26,27,28,29,30,31",
                "RRULE:FREQ=YEARLY;BYDAY=SU;BYMONTH=3;BYMONTHDAY=8,9,10,11,12,13,14",
                Some("<-05>5<-04>4,M3.2.0/2,M10.5.0/2"),
            ),
            // The changes of one year only: the offset after the last one stays.
            ("X-A:1", "X-A:1", Some("<-05>5")),
        ] {
            let parts = part("STANDARD", "20071104T020000", winter, standard)
                + &part("DAYLIGHT", "20070311T020000", summer, daylight);
            assert_eq!(name(&parts, "2026-07-01T00:00").as_deref(), expected, "{standard}");
        }
    }

    #[test]
    fn the_rules_in_force_count() {
        let parts = part(
            "STANDARD",
            "20001029T020000",
            ["-0400", "-0500"],
            "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z",
        ) + &part(
            "DAYLIGHT",
            "20000402T020000",
            ["-0500", "-0400"],
            "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z",
        ) + &part(
            "STANDARD",
            "20071104T020000",
            ["-0400", "-0500"],
            "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
        ) + &part(
            "DAYLIGHT",
            "20070311T020000",
            ["-0500", "-0400"],
            "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
        );
        let at = |at: &str| name(&parts, at).unwrap();
        assert_eq!(at("2005-06-01T00:00"), "<-05>5<-04>4,M4.1.0/2,M10.5.0/2");
        assert_eq!(at("2026-06-01T00:00"), "<-05>5<-04>4,M3.2.0/2,M11.1.0/2");
        // Before the first change.
        assert_eq!(at("1990-06-01T00:00"), "<-05>5");
    }

    #[test]
    fn other_definitions_are_an_offset() {
        let fixed = part("STANDARD", "16010101", ["+0530", "+0530"], "TZNAME:x");
        assert_eq!(name(&fixed, "2026-06-01T00:00").as_deref(), Some("<+0530>-5:30"));
        let utc = part("STANDARD", "16010101T000000", ["+0000", "+0000"], "TZNAME:x");
        assert_eq!(name(&utc, "2026-06-01T00:00").as_deref(), Some("UTC"));
        let listed =
            part("STANDARD", "20251026T030000", ["+0200", "+0100"], "RDATE:20261025T030000")
                + &part("DAYLIGHT", "20260329T020000", ["+0100", "+0200"], "RDATE:20270328T020000");
        for (at, expected) in [
            ("2026-02-01T00:00", "<+01>-1"),
            ("2026-07-01T00:00", "<+02>-2"),
            ("2026-12-01T00:00", "<+01>-1"),
            ("2030-12-01T00:00", "<+02>-2"),
        ] {
            assert_eq!(name(&listed, at).as_deref(), Some(expected), "{at}");
        }
        for broken in ["X:1", "BEGIN:STANDARD\nDTSTART:20070311T020000\nEND:STANDARD"] {
            assert!(definition(broken).is_none(), "{broken}");
        }
    }
}
