//! The periods of a rule, and the times within each.

use crate::{
    expand::filter::{Filter, month_number, plus},
    rule::*,
};
use jiff::{
    SignedDuration,
    civil::{Date, DateTime, Time},
};

/// The periods (from seconds to years) of a rule, numbered from that of the first start.
pub(super) struct Periods<'a> {
    rule: &'a Rule,
    first: DateTime,
    filter: Filter<'a>,
    /// The times of each day, for a rule whose periods are days or longer.
    times: Vec<Time>,
}

impl<'a> Periods<'a> {
    pub(super) fn new(rule: &'a Rule, first: DateTime) -> Self {
        let filter = Filter::new(rule, first.date());
        let mut periods = Self { rule, first, filter, times: Vec::new() };
        periods.times = periods.times_of(first);
        periods
    }

    /// Returns the start of a period; `None` beyond the end of the calendar.
    pub(super) fn start(&self, number: i64) -> Option<DateTime> {
        let steps = number.checked_mul(i64::from(self.rule.interval))?;
        let first = self.first.date();
        let date = match self.rule.frequency {
            Frequency::Secondly => return self.later(steps),
            Frequency::Minutely => return self.later(steps.checked_mul(60)?),
            Frequency::Hourly => return self.later(steps.checked_mul(3_600)?),
            Frequency::Daily => plus(first, steps)?,
            Frequency::Weekly => plus(self.filter.week(first), steps.checked_mul(7)?)?,
            Frequency::Monthly => {
                let month = month_number(first).checked_add(steps)?;
                let year = i16::try_from(month.div_euclid(12)).ok()?;
                Date::new(year, i8::try_from(month.rem_euclid(12)).ok()? + 1, 1).ok()?
            }
            Frequency::Yearly => {
                let year = i64::from(first.year()).checked_add(steps)?;
                Date::new(i16::try_from(year).ok()?, 1, 1).ok()?
            }
        };
        Some(date.at(0, 0, 0, 0))
    }

    fn later(&self, seconds: i64) -> Option<DateTime> {
        self.first.checked_add(SignedDuration::from_secs(seconds)).ok()
    }

    /// Returns the number of the last period that begins no later than this; at least 0.
    pub(super) fn before(&self, at: DateTime) -> i64 {
        let (first, day) = (self.first.date(), at.date());
        let seconds = at.duration_since(self.first).as_secs();
        let days = |from: Date| day.duration_since(from).as_hours() / 24;
        let steps = match self.rule.frequency {
            Frequency::Secondly => seconds,
            // The times of a period are up to its length after its start.
            Frequency::Minutely => seconds / 60 - 1,
            Frequency::Hourly => seconds / 3_600 - 1,
            Frequency::Daily => days(first),
            Frequency::Weekly => days(self.filter.week(first)) / 7,
            Frequency::Monthly => month_number(day) - month_number(first),
            Frequency::Yearly => i64::from(day.year()) - i64::from(first.year()),
        };
        steps.max(0) / i64::from(self.rule.interval.max(1))
    }

    /// Adds the times of the period that begins with this, in order, and returns how many steps
    /// that took: one for each day and for each time, also for those that the positions of the rule leave out.
    pub(super) fn fill(&self, start: DateTime, found: &mut Vec<DateTime>) -> u32 {
        let mut steps: u32 = 1;
        match self.rule.frequency {
            Frequency::Secondly | Frequency::Minutely | Frequency::Hourly => {
                if self.filter.has(start.date()) {
                    let times = self.times_of(start);
                    found.extend(times.iter().map(|time| start.date().to_datetime(*time)));
                }
            }
            _ => {
                let end = self.end(start.date());
                let mut next = Some(start.date());
                while let Some(day) = next.filter(|day| *day <= end) {
                    steps += 1;
                    if !self.filter.has_month(day) {
                        next = plus(day.last_of_month(), 1);
                        continue;
                    }
                    if self.filter.has(day) {
                        found.extend(self.times.iter().map(|time| day.to_datetime(*time)));
                    }
                    next = plus(day, 1);
                }
            }
        }
        steps = steps.saturating_add(u32::try_from(found.len()).unwrap_or(u32::MAX));
        self.select(found);
        steps
    }

    /// Returns the last day of the period that begins on this day.
    fn end(&self, start: Date) -> Date {
        match self.rule.frequency {
            Frequency::Weekly => plus(start, 6).unwrap_or(Date::MAX),
            Frequency::Monthly => start.last_of_month(),
            Frequency::Yearly => start.last_of_year(),
            _ => start,
        }
    }

    /// Leaves only the positions that the rule names, if it names any.
    fn select(&self, found: &mut Vec<DateTime>) {
        let positions = &self.rule.by.positions;
        if positions.is_empty() {
            return;
        }
        let length = i64::try_from(found.len()).unwrap_or(i64::MAX);
        let mut place = 0;
        found.retain(|_at| {
            place += 1;
            let has = |place: i64| {
                positions.binary_search_by_key(&place, |position| i64::from(*position)).is_ok()
            };
            has(place) || has(place - length - 1)
        });
    }

    /// Returns the times of a day, or of the hour, minute or second that begins with this.
    fn times_of(&self, start: DateTime) -> Vec<Time> {
        let (by, first) = (&self.rule.by, self.first);
        let hours = self.units(&by.hours, Frequency::Hourly, start.hour(), first.hour());
        let minutes = self.units(&by.minutes, Frequency::Minutely, start.minute(), first.minute());
        let seconds = self.units(&by.seconds, Frequency::Secondly, start.second(), first.second());
        let mut times = Vec::with_capacity(hours.len() * minutes.len() * seconds.len());
        for hour in &hours {
            for minute in &minutes {
                times.extend(
                    seconds.iter().filter_map(|second| Time::new(*hour, *minute, *second, 0).ok()),
                );
            }
        }
        times
    }

    /// Returns the hours, minutes or seconds of a period. In a period that is not longer than one of
    /// them, a list limits; in a longer one, it adds.
    fn units(&self, list: &[i16], unit: Frequency, here: i8, first: i8) -> Vec<i8> {
        if self.rule.frequency <= unit {
            let is_listed = list.is_empty() || list.contains(&i16::from(here));
            return if is_listed { vec![here] } else { Vec::new() };
        }
        match list.is_empty() {
            true => vec![first],
            false => list.iter().filter_map(|number| i8::try_from(*number).ok()).collect(),
        }
    }
}
