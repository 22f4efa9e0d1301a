//! Series: events that occur once or repeatedly, in the local time of their zone.

use crate::{
    expand::{self, days},
    limits::MOST_REPEATS,
    rule::*,
    spans::Span,
    zones::*,
};
use jiff::{
    SignedDuration,
    civil::{Date, DateTime},
};
use std::ops::ControlFlow;

/// 9999-12-31: the end of series that have none.
pub(crate) const FAR: i64 = 253_402_214_400_000;

#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) zone: Zone,
    /// The local time at which the first occurrence begins.
    pub(crate) start: DateTime,
    /// The length by the clock: what ends at six ends at six on every day. RFC 5545 (3.8.5.3) keeps
    /// the exact length of an event with a DTEND, but neither ical.js nor recurring-ical-events
    /// does, and people who sleep until six do so in every night.
    pub(crate) length: SignedDuration,
    pub(crate) rule: Option<Rule>,
    /// No occurrence begins after this local time.
    pub(crate) last: Option<DateTime>,
    /// The local times of excluded occurrences.
    pub(crate) except: Vec<DateTime>,
}

impl Series {
    /// Makes a series with one occurrence.
    pub(crate) fn once(zone: Zone, start: DateTime, end: DateTime) -> Self {
        let length = end.duration_since(start);
        Self { zone, start, length, rule: None, last: None, except: Vec::new() }
    }

    /// Adds the rule; returns `None` if it ends before the series begins.
    pub(crate) fn recurring(mut self, rule: Option<Rule>) -> Option<Self> {
        self.rule = rule;
        self.last = self.find_last();
        self.last.is_none_or(|last| last >= self.start).then_some(self)
    }

    /// Returns the local time at which the first occurrence ends.
    pub(crate) fn end(&self) -> DateTime {
        self.start.checked_add(self.length).unwrap_or(DateTime::MAX)
    }

    /// Returns when the last occurrence begins, or an upper bound of it; `None` if there is no last
    /// one.
    fn find_last(&self) -> Option<DateTime> {
        let rule = self.rule.as_ref()?;
        match rule.end {
            End::Never => None,
            End::Day(day) => Some(day.at(23, 59, 59, 0)),
            End::Local(local) => Some(local),
            End::Utc(utc) => Some(self.zone.local(Zone::utc().instant(utc))),
            End::Count(count) => {
                let mut last = self.start.date();
                let mut left = count.min(MOST_REPEATS);
                days(rule, last, last, Date::MAX, |day| {
                    (last, left) = (day, left.saturating_sub(1));
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                Some(last.to_datetime(self.start.time()))
            }
        }
    }

    /// Returns the span that all occurrences are within.
    pub(crate) fn bounds(&self) -> Span {
        let first = self.occurrence(self.start);
        let end = match (&self.rule, self.last) {
            (None, _) => first.end,
            (Some(_), None) => FAR,
            (Some(_), Some(last)) => self.occurrence(last).end,
        };
        Span { end, ..first }
    }

    /// Visits the occurrences that overlap the range, in the order of their local times.
    pub(crate) fn each(&self, range: Span, mut visit: impl FnMut(Span)) {
        let mut consider = |start: DateTime| {
            let occurrence = self.occurrence(start);
            if occurrence.overlaps(range) && self.except.binary_search(&start).is_err() {
                visit(occurrence);
            }
        };
        let Some(rule) = &self.rule else { return consider(self.start) };
        let time = self.start.time();
        // Rounded up, and one more day, because the clock may change in between.
        let reach = self.length.as_hours() / 24 + 2;
        let edge = |date: Date, days: i64, edge: Date| expand::plus(date, days).unwrap_or(edge);
        let from_day = edge(self.zone.date(range.start), -reach, Date::MIN);
        let to_day = edge(self.zone.date(range.end), 1, Date::MAX);
        days(rule, self.start.date(), from_day, to_day, |day| {
            let start = day.to_datetime(time);
            if self.last.is_some_and(|last| start > last) {
                return ControlFlow::Break(());
            }
            consider(start);
            ControlFlow::Continue(())
        });
    }

    /// Whether the rule itself matches the first day.
    pub(crate) fn is_in_step(&self) -> bool {
        let by_day = self.rule.as_ref().filter(|rule| !rule.by_day.is_empty());
        let (Some(rule), first) = (by_day, self.start.date()) else { return true };
        // `days` always visits the first day, so the series is expanded as if it had begun a day
        // earlier.
        let Some(before) = expand::plus(first, -1) else { return true };
        let mut found = false;
        let mut single = rule.clone();
        single.interval = 1;
        days(&single, before, first, first, |_day| {
            found = true;
            ControlFlow::Break(())
        });
        found
    }

    fn occurrence(&self, start: DateTime) -> Span {
        let end = start.checked_add(self.length).unwrap_or(DateTime::MAX);
        let (start, end) = self.zone.span(start, end);
        Span { start, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DAY;
    use jiff::Timestamp;

    fn series(zone: &str, start: &str, end: &str, rule: &str) -> Option<Series> {
        let rule = (!rule.is_empty()).then(|| Rule::parse(rule).unwrap());
        let zone = Zone::named(zone).unwrap();
        Series::once(zone, start.parse().unwrap(), end.parse().unwrap()).recurring(rule)
    }

    fn found(series: &Series, from: &str, days: i64) -> Vec<(String, i64)> {
        let from = from.parse::<Timestamp>().unwrap().as_millisecond();
        let mut found = Vec::new();
        series.each(Span::new(from, from + days * DAY), |one| {
            let start = Timestamp::from_millisecond(one.start).unwrap();
            found.push((start.to_string(), (one.end - one.start) / 60_000));
        });
        found
    }

    const LA: &str = "America/Los_Angeles";

    #[test]
    fn weekly_blocks_keep_their_wall_time_over_both_changes() {
        let weekly = series(LA, "2026-10-18T09:00", "2026-10-18T10:00", "FREQ=WEEKLY").unwrap();
        let starts = |from, days| {
            found(&weekly, from, days).into_iter().map(|(start, _)| start).collect::<Vec<_>>()
        };
        assert_eq!(
            starts("2026-10-20T00:00:00Z", 21),
            ["2026-10-25T16:00:00Z", "2026-11-01T17:00:00Z", "2026-11-08T17:00:00Z"]
        );
        assert_eq!(
            starts("2027-03-02T00:00:00Z", 21),
            ["2027-03-07T17:00:00Z", "2027-03-14T16:00:00Z", "2027-03-21T16:00:00Z"]
        );
    }

    #[test]
    fn an_occurrence_over_a_clock_change_ends_by_the_clock() {
        let rule = "FREQ=DAILY;COUNT=2";
        let nights = series(LA, "2026-10-31T22:00", "2026-11-01T06:00", rule).unwrap();
        assert_eq!(
            found(&nights, "2026-10-30T00:00:00Z", 9),
            [("2026-11-01T05:00:00Z".into(), 540), ("2026-11-02T06:00:00Z".into(), 480)]
        );
        let skipped = series(LA, "2027-03-13T02:30", "2027-03-13T02:45", "FREQ=DAILY").unwrap();
        assert_eq!(
            found(&skipped, "2027-03-14T00:00:00Z", 2),
            [("2027-03-14T10:30:00Z".into(), 15), ("2027-03-15T09:30:00Z".into(), 15)]
        );
    }

    #[test]
    fn the_end_of_a_rule_is_its_last() {
        for (rule, count) in [
            ("FREQ=DAILY;COUNT=3", Some(3)),
            ("FREQ=DAILY;UNTIL=20261104", Some(3)),
            // 09:00 in Los Angeles.
            ("FREQ=DAILY;UNTIL=20261104T170000Z", Some(3)),
            ("FREQ=DAILY;UNTIL=20261104T165959Z", Some(2)),
            ("FREQ=DAILY;UNTIL=20261104T090000", Some(3)),
            ("FREQ=DAILY;UNTIL=20261101", None),
            ("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4", Some(4)),
        ] {
            let daily = series(LA, "2026-11-02T09:00", "2026-11-02T10:00", rule);
            let found = daily.map(|daily| found(&daily, "2026-11-01T00:00:00Z", 60).len());
            assert_eq!(found, count, "{rule}");
        }
    }

    #[test]
    fn a_first_day_matches_its_rule_or_not() {
        for (rule, expected) in [
            ("FREQ=WEEKLY;BYDAY=MO", true),
            ("FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,TU", true),
            ("FREQ=WEEKLY;BYDAY=TU", false),
            ("FREQ=MONTHLY;BYDAY=1MO", true),
            ("FREQ=MONTHLY;BYDAY=2MO", false),
            ("FREQ=YEARLY;INTERVAL=2;BYDAY=MO", true),
            ("FREQ=MONTHLY", true),
            ("FREQ=DAILY;INTERVAL=2;BYDAY=MO", true),
            ("FREQ=DAILY;BYDAY=SU", false),
        ] {
            let it = series(LA, "2026-11-02T09:00", "2026-11-02T10:00", rule).unwrap();
            assert_eq!(it.is_in_step(), expected, "{rule}");
        }
    }

    #[test]
    fn long_occurrences_overlap_the_range() {
        let long = series(LA, "2026-01-01T00:00", "2026-02-20T00:00", "FREQ=MONTHLY").unwrap();
        assert_eq!(found(&long, "2026-06-10T00:00:00Z", 1).len(), 2);
        let once = series(LA, "2026-01-01T00:00", "2026-12-20T00:00", "").unwrap();
        assert_eq!(found(&once, "2026-06-10T00:00:00Z", 1).len(), 1);
        assert_eq!(found(&once, "2027-06-10T00:00:00Z", 1).len(), 0);
    }
}
