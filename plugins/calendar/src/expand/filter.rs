//! The days that match the parts of a rule.

use crate::rule::*;
use jiff::{SignedDuration, civil::Date};
use std::borrow::Cow;

/// The days of a rule, with those that follow from its first day if no part names days.
pub(super) struct Filter<'a> {
    rule: &'a Rule,
    by: Cow<'a, By>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(rule: &'a Rule, first: Date) -> Self {
        let mut by = Cow::Borrowed(&rule.by);
        if !by.selects_days() {
            let month_day = vec![i16::from(first.day())];
            match rule.frequency {
                Frequency::Yearly => {
                    let by = by.to_mut();
                    by.month_days = month_day;
                    if by.months.is_empty() {
                        by.months = vec![i16::from(first.month())];
                    }
                }
                Frequency::Monthly => by.to_mut().month_days = month_day,
                Frequency::Weekly => {
                    by.to_mut().days = vec![ByDay { nth: 0, weekday: first.weekday() }];
                }
                _ => {}
            }
        }
        Self { rule, by }
    }

    /// Returns the first day of the week of a day.
    pub(super) fn week(&self, day: Date) -> Date {
        let since = day.weekday().since(self.rule.week_start);
        plus(day, -i64::from(since)).unwrap_or(day)
    }

    pub(super) fn has_month(&self, day: Date) -> bool {
        has(&self.by.months, [day.month().into()])
    }

    pub(super) fn has(&self, day: Date) -> bool {
        let from_both_ends = |number: i16, length: i16| [number, number - length - 1];
        let by = &self.by;
        self.has_month(day)
            && has(&by.month_days, from_both_ends(day.day().into(), day.days_in_month().into()))
            && has(&by.year_days, from_both_ends(day.day_of_year(), day.days_in_year()))
            && (by.weeks.is_empty() || {
                let (number, weeks) = self.week_number(day);
                has(&by.weeks, from_both_ends(number, weeks))
            })
            && (by.days.is_empty() || by.days.iter().any(|by_day| self.is_day(*by_day, day)))
    }

    /// Whether a day is the numbered weekday of its month or year.
    fn is_day(&self, by_day: ByDay, day: Date) -> bool {
        let is_yearly = self.rule.frequency == Frequency::Yearly && self.by.months.is_empty();
        let (number, length) = match is_yearly {
            true => (day.day_of_year(), day.days_in_year()),
            false => (day.day().into(), day.days_in_month().into()),
        };
        let nth = [0, (number - 1) / 7 + 1, (number - length) / 7 - 1];
        by_day.weekday == day.weekday() && nth.contains(&by_day.nth)
    }

    /// Returns the number of a day's week, and how many weeks the year of that week has. The first
    /// week of a year is the first one with four days in it.
    fn week_number(&self, day: Date) -> (i16, i16) {
        let middle = plus(self.week(day), 3).unwrap_or(day);
        let number = (middle.day_of_year() - 1) / 7 + 1;
        (number, number + (middle.days_in_year() - middle.day_of_year()) / 7)
    }
}

fn has<const N: usize>(list: &[i16], values: [i16; N]) -> bool {
    list.is_empty() || values.iter().any(|value| list.contains(value))
}

pub(super) fn month_number(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

pub(crate) fn plus(date: Date, days: i64) -> Option<Date> {
    let hours = days.checked_mul(24).filter(|hours| hours.abs() < HOURS_OF_THE_CALENDAR)?;
    date.checked_add(SignedDuration::from_hours(hours)).ok()
}

const HOURS_OF_THE_CALENDAR: i64 = 24 * 366 * 20_000;
