//! Series: events that occur once or repeatedly, in the local time of their zone.

use crate::{
    expand::{self, Walk},
    limits::{MOST_EXCEPTIONS, MOST_RULE_STEPS},
    rule::*,
    spans::Span,
    zones::*,
};
use jiff::{SignedDuration, civil::DateTime};
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
    /// No occurrence of the rule begins after this local time.
    pub(crate) last: Option<DateTime>,
    /// The local times of excluded occurrences, in order.
    pub(crate) except: Vec<DateTime>,
    /// Additional occurrences: the local times of their starts and ends, in order.
    pub(crate) also: Vec<(DateTime, DateTime)>,
}

/// The reasons why a rule makes no series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSeries {
    /// The rule ends before the series begins.
    EndsBefore,
    /// Its `COUNT` takes too many steps.
    TooLong,
}

impl Series {
    /// Makes a series with one occurrence.
    pub(crate) fn once(zone: Zone, start: DateTime, end: DateTime) -> Self {
        let length = end.duration_since(start);
        let (except, also) = (Vec::new(), Vec::new());
        Self { zone, start, length, rule: None, last: None, except, also }
    }

    /// Adds the rule. To count its occurrences takes steps.
    pub(crate) fn recurring(mut self, rule: Rule, steps: &mut u32) -> Result<Self, NoSeries> {
        self.last = self.find_last(&rule, steps)?;
        self.rule = Some(rule);
        match self.last.is_none_or(|last| last >= self.start) {
            true => Ok(self),
            false => Err(NoSeries::EndsBefore),
        }
    }

    /// Ends the series before this local time; returns whether anything is left of it.
    pub(crate) fn end_before(&mut self, at: DateTime, all_day: bool) -> bool {
        let last = at.saturating_sub(SignedDuration::from_secs(1));
        self.also.retain(|(start, _)| *start < at);
        if let Some(rule) = &mut self.rule {
            // In the form in which an export writes it.
            rule.end = match all_day {
                true => End::Day(last.date()),
                false => End::Utc(Zone::utc().local(self.zone.instant(last))),
            };
            self.last = Some(last);
        }
        self.start < at
    }

    /// Whether its last occurrence is found by counting.
    pub(crate) fn is_counted(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| matches!(rule.end, End::Count(_)))
    }

    /// Returns the local time at which the first occurrence ends.
    pub(crate) fn end(&self) -> DateTime {
        self.start.checked_add(self.length).unwrap_or(DateTime::MAX)
    }

    /// Returns when the last occurrence begins, or an upper bound of it; `None` if there is no last
    /// one.
    fn find_last(&self, rule: &Rule, steps: &mut u32) -> Result<Option<DateTime>, NoSeries> {
        Ok(match rule.end {
            End::Never => None,
            End::Day(day) => Some(day.at(23, 59, 59, 0)),
            End::Local(local) => Some(local),
            End::Utc(utc) => Some(self.zone.local(Zone::utc().instant(utc))),
            End::Count(count) => {
                let (mut last, mut left) = (self.start, count);
                let range = (self.start, DateTime::MAX);
                let walk = expand::starts(rule, self.start, range, steps, |start| {
                    (last, left) = (start, left.saturating_sub(1));
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                if walk == Walk::TooLong {
                    return Err(NoSeries::TooLong);
                }
                Some(last)
            }
        })
    }

    /// Returns the span that all occurrences are within.
    pub(crate) fn bounds(&self) -> Span {
        let first = self.occurrence(self.start);
        let end = match (&self.rule, self.last) {
            (None, _) => first.end,
            (Some(_), None) => FAR,
            (Some(_), Some(last)) => self.occurrence(last).end,
        };
        let also = self.also.iter().map(|(start, end)| self.span(*start, *end));
        also.fold(Span { end, ..first }, |all, one| {
            Span::new(all.start.min(one.start), all.end.max(one.end))
        })
    }

    /// Visits the occurrences that overlap the range: those of the rule in the order of their local
    /// times, then the additional ones.
    pub(crate) fn each(&self, range: Span, mut visit: impl FnMut(Span)) {
        let mut consider = |start: DateTime, occurrence: Span| {
            let is_empty = occurrence.end <= occurrence.start;
            if !is_empty && occurrence.overlaps(range) && self.except.binary_search(&start).is_err()
            {
                visit(occurrence);
            }
        };
        self.each_start(self.near(range), &mut { MOST_RULE_STEPS }, |start| {
            consider(start, self.occurrence(start));
            ControlFlow::Continue(())
        });
        for (start, end) in &self.also {
            consider(*start, self.span(*start, *end));
        }
    }

    /// Visits every start that the recurrence rule generates in a range of local times. Includes
    /// excluded dates (EXDATE), skips dates that are also listed as RDATE.
    pub(crate) fn each_start(
        &self,
        range: (DateTime, DateTime),
        steps: &mut u32,
        mut visit: impl FnMut(DateTime) -> ControlFlow<()>,
    ) {
        let mut consider = |start: DateTime| {
            if self.last.is_some_and(|last| start > last) {
                return ControlFlow::Break(());
            }
            match self.also.iter().any(|(also, _)| *also == start) {
                true => ControlFlow::Continue(()),
                false => visit(start),
            }
        };
        match &self.rule {
            Some(rule) => {
                expand::starts(rule, self.start, range, steps, consider);
            }
            None => {
                let _only = consider(self.start);
            }
        }
    }

    /// Returns the next starts of the rule after a local time that are not past and not excluded, as
    /// many as a block can have as additional ones, and whether there are more.
    pub(crate) fn next_starts(
        &self,
        after: DateTime,
        now: i64,
        steps: &mut u32,
    ) -> (Vec<DateTime>, bool) {
        let from = after.max(self.zone.local(now).saturating_sub(self.length));
        let (mut starts, mut is_more) = (Vec::new(), false);
        self.each_start((from, DateTime::MAX), steps, |start| {
            if start > after && self.except.binary_search(&start).is_err() {
                is_more = starts.len() == MOST_EXCEPTIONS;
                if is_more {
                    return ControlFlow::Break(());
                }
                starts.push(start);
            }
            ControlFlow::Continue(())
        });
        (starts, is_more)
    }

    /// Returns the local times at which an occurrence that overlaps the range can begin. The range
    /// is a day longer at both ends, because the clock may change in between.
    fn near(&self, range: Span) -> (DateTime, DateTime) {
        let day = SignedDuration::from_hours(24);
        let reach = self.length.saturating_add(day);
        let (from, to) = (self.zone.local(range.start), self.zone.local(range.end));
        (from.saturating_sub(reach), to.saturating_add(day))
    }

    /// Whether the rule itself matches the first start.
    pub(crate) fn is_in_step(&self) -> bool {
        self.rule.as_ref().is_none_or(|rule| expand::matches_first(rule, self.start))
    }

    fn occurrence(&self, start: DateTime) -> Span {
        self.span(start, start.saturating_add(self.length))
    }

    fn span(&self, start: DateTime, end: DateTime) -> Span {
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
        let zone = Zone::named(zone).unwrap();
        let once = Series::once(zone, start.parse().unwrap(), end.parse().unwrap());
        match rule.is_empty() {
            true => Some(once),
            false => once.recurring(Rule::parse(rule).unwrap(), &mut { MOST_RULE_STEPS }).ok(),
        }
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
            ("FREQ=MONTHLY;BYMONTHDAY=2", true),
            ("FREQ=MONTHLY;BYMONTHDAY=3,4", false),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1", true),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=2", false),
        ] {
            let it = series(LA, "2026-11-02T09:00", "2026-11-02T10:00", rule).unwrap();
            assert_eq!(it.is_in_step(), expected, "{rule}");
        }
    }

    #[test]
    fn additional_occurrences_have_their_own_length() {
        let mut weekly =
            series(LA, "2026-11-02T09:00", "2026-11-02T10:00", "FREQ=WEEKLY;COUNT=3").unwrap();
        let at = |text: &str| text.parse::<DateTime>().unwrap();
        weekly.also = vec![
            (at("2026-11-09T09:00"), at("2026-11-09T09:30")),
            (at("2026-12-24T09:00"), at("2026-12-24T12:00")),
        ];
        weekly.except = vec![at("2026-11-16T09:00")];
        assert_eq!(
            found(&weekly, "2026-11-01T00:00:00Z", 60),
            [
                ("2026-11-02T17:00:00Z".into(), 60),
                ("2026-11-09T17:00:00Z".into(), 30),
                ("2026-12-24T17:00:00Z".into(), 180),
            ]
        );
        let end = Timestamp::from_millisecond(weekly.bounds().end).unwrap();
        assert_eq!(end.to_string(), "2026-12-24T20:00:00Z");
    }

    #[test]
    fn a_count_that_is_never_reached_makes_no_series() {
        for rule in ["FREQ=DAILY;COUNT=1000000000", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=9;COUNT=2"] {
            let once = Series::once(
                Zone::utc(),
                "2026-11-02T09:00".parse().unwrap(),
                "2026-11-02T10:00".parse().unwrap(),
            );
            let made = once.recurring(Rule::parse(rule).unwrap(), &mut { 100_000 });
            assert_eq!(made.err(), Some(NoSeries::TooLong), "{rule}");
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
