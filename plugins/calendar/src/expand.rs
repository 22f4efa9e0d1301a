//! The expansion of recurrence rules into days.

use crate::rule::*;
use jiff::{
    SignedDuration,
    civil::{Date, Weekday},
};
use std::ops::ControlFlow;

/// Visits the days of a rule between `from` and `to` in order, including the first day, even if it
/// does not match the rule. The end of the rule is not considered here: `visit` breaks at the end.
pub(crate) fn days(
    rule: &Rule,
    first: Date,
    from: Date,
    to: Date,
    mut visit: impl FnMut(Date) -> ControlFlow<()>,
) {
    if first >= from && first <= to && visit(first).is_break() {
        return;
    }
    let (from, periods) = (from.max(first), Periods { rule, first });
    let mut found = Vec::new();
    let mut period = periods.before(from);
    while let Some(start) = periods.start(period).filter(|start| *start <= to) {
        found.clear();
        periods.fill(start, &mut found);
        found.sort_unstable();
        found.dedup();
        for day in found.iter().filter(|day| **day > first && **day >= from && **day <= to) {
            if visit(*day).is_break() {
                return;
            }
        }
        period += 1;
    }
}

/// The periods (days, weeks, months or years) of a rule, numbered from that of the first day.
struct Periods<'a> {
    rule: &'a Rule,
    first: Date,
}

impl Periods<'_> {
    /// Returns the first day of a period; `None` beyond the end of the calendar.
    fn start(&self, number: i64) -> Option<Date> {
        let steps = number.checked_mul(i64::from(self.rule.interval))?;
        match self.rule.frequency {
            Frequency::Daily => plus(self.first, steps),
            Frequency::Weekly => plus(self.week(self.first), steps.checked_mul(7)?),
            Frequency::Monthly => {
                let month = month_number(self.first).checked_add(steps)?;
                let year = i16::try_from(month.div_euclid(12)).ok()?;
                Date::new(year, i8::try_from(month.rem_euclid(12)).ok()? + 1, 1).ok()
            }
            Frequency::Yearly => {
                let year = i64::from(self.first.year()).checked_add(steps)?;
                Date::new(i16::try_from(year).ok()?, 1, 1).ok()
            }
        }
    }

    /// Returns the number of the last period that begins no later than this day; at least 0.
    fn before(&self, day: Date) -> i64 {
        let steps = match self.rule.frequency {
            Frequency::Daily => between(self.first, day),
            Frequency::Weekly => between(self.week(self.first), day) / 7,
            Frequency::Monthly => month_number(day) - month_number(self.first),
            Frequency::Yearly => i64::from(day.year()) - i64::from(self.first.year()),
        };
        steps.max(0) / i64::from(self.rule.interval)
    }

    /// Adds the days of the period that begins on this day.
    fn fill(&self, start: Date, found: &mut Vec<Date>) {
        let (by_day, first) = (&self.rule.by_day, self.first);
        if by_day.is_empty() {
            found.extend(match self.rule.frequency {
                Frequency::Daily => Some(start),
                Frequency::Weekly => on_or_after(start, first.weekday()),
                // A month without this day has no occurrence.
                Frequency::Monthly => Date::new(start.year(), start.month(), first.day()).ok(),
                Frequency::Yearly => Date::new(start.year(), first.month(), first.day()).ok(),
            });
        }
        let end = match self.rule.frequency {
            Frequency::Daily => start,
            Frequency::Weekly => plus(start, 6).unwrap_or(Date::MAX),
            Frequency::Monthly => start.last_of_month(),
            Frequency::Yearly => start.last_of_year(),
        };
        by_day.iter().for_each(|day| numbered(*day, start, end, found));
    }

    fn week(&self, day: Date) -> Date {
        let since = day.weekday().since(self.rule.week_start);
        plus(day, -i64::from(since)).unwrap_or(day)
    }
}

/// Adds the matching days between two days, both included.
fn numbered(day: ByDay, start: Date, end: Date, found: &mut Vec<Date>) {
    let weeks = i64::from(day.nth.unsigned_abs()) - 1;
    let one = match day.nth {
        0 => {
            let mut next = on_or_after(start, day.weekday);
            while let Some(date) = next.filter(|date| *date <= end) {
                found.push(date);
                next = plus(date, 7);
            }
            return;
        }
        1.. => on_or_after(start, day.weekday).and_then(|date| plus(date, 7 * weeks)),
        _ => {
            let back = i64::from(end.weekday().since(day.weekday));
            plus(end, -back - 7 * weeks)
        }
    };
    found.extend(one.filter(|date| *date >= start && *date <= end));
}

fn on_or_after(start: Date, weekday: Weekday) -> Option<Date> {
    plus(start, i64::from(weekday.since(start.weekday())))
}

fn month_number(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

pub(crate) fn plus(date: Date, days: i64) -> Option<Date> {
    let hours = days.checked_mul(24).filter(|hours| hours.abs() < HOURS_OF_THE_CALENDAR)?;
    date.checked_add(SignedDuration::from_hours(hours)).ok()
}

const HOURS_OF_THE_CALENDAR: i64 = 24 * 366 * 20_000;

fn between(from: Date, to: Date) -> i64 {
    to.duration_since(from).as_hours() / 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::WEEKDAYS;
    use proptest::prelude::*;

    fn some(text: &str, first: &str, from: &str, to: &str) -> Vec<String> {
        let rule = Rule::parse(text).unwrap();
        let mut found = Vec::new();
        let [first, from, to] = [first, from, to].map(|date| date.parse().unwrap());
        days(&rule, first, from, to, |day| {
            found.push(day.to_string());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn rules_expand_as_in_the_standard() {
        let year = |text, first| some(text, first, "2026-01-01", "2026-12-31");
        assert_eq!(year("FREQ=MONTHLY", "2026-01-31").len(), 7);
        assert_eq!(year("FREQ=MONTHLY;BYDAY=-1FR", "2026-01-30")[1], "2026-02-27");
        assert_eq!(year("FREQ=MONTHLY;BYDAY=5MO", "2026-03-30")[1], "2026-06-29");
        assert_eq!(year("FREQ=YEARLY;BYDAY=20MO", "2026-05-18"), ["2026-05-18"]);
        assert_eq!(year("FREQ=YEARLY;BYDAY=-1MO", "2026-12-28"), ["2026-12-28"]);
        assert_eq!(
            some("FREQ=YEARLY", "2024-02-29", "2024-01-01", "2033-01-01"),
            ["2024-02-29", "2028-02-29", "2032-02-29"]
        );
        // The example of RFC 5545 on WKST.
        let weeks = |start: &str| {
            let rule = format!("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST={start}");
            some(&rule, "1997-08-05", "1997-08-05", "1997-08-25")
        };
        assert_eq!(weeks("MO"), ["1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"]);
        assert_eq!(weeks("SU"), ["1997-08-05", "1997-08-17", "1997-08-19"]);
        // The first day counts, even if it does not match the rule.
        assert_eq!(
            some("FREQ=WEEKLY;BYDAY=TU", "2026-11-02", "2026-11-01", "2026-11-11"),
            ["2026-11-02", "2026-11-03", "2026-11-10"]
        );
    }

    #[test]
    fn the_end_of_the_calendar_ends_a_rule() {
        let last = |rule, first| some(rule, first, "9999-01-01", "9999-12-31").len();
        assert_eq!(last("FREQ=DAILY;INTERVAL=999", "9999-12-01"), 1);
        assert_eq!(last("FREQ=YEARLY;INTERVAL=999", "9000-12-31"), 1);
        let earliest = "-009999-01-02";
        assert!(some("FREQ=WEEKLY;BYDAY=SU", earliest, earliest, "-009999-01-20").len() > 1);
    }

    /// Whether a rule matches a day, computed from this day alone.
    fn is_in_rule(rule: &Rule, first: Date, day: Date) -> bool {
        let week =
            |date: Date| plus(date, -i64::from(date.weekday().since(rule.week_start))).unwrap();
        let steps = match rule.frequency {
            Frequency::Daily => between(first, day),
            Frequency::Weekly => between(week(first), week(day)) / 7,
            Frequency::Monthly => month_number(day) - month_number(first),
            Frequency::Yearly => i64::from(day.year() - first.year()),
        };
        if day < first || steps % i64::from(rule.interval) != 0 {
            return false;
        }
        if rule.by_day.is_empty() {
            return match rule.frequency {
                Frequency::Daily => true,
                Frequency::Weekly => day.weekday() == first.weekday(),
                Frequency::Monthly => day.day() == first.day(),
                Frequency::Yearly => (day.month(), day.day()) == (first.month(), first.day()),
            };
        }
        let (number, length) = match rule.frequency {
            Frequency::Yearly => (day.day_of_year(), day.days_in_year()),
            _ => (day.day().into(), day.days_in_month().into()),
        };
        let (nth, nth_last) = ((number - 1) / 7 + 1, (number - length) / 7 - 1);
        let mut same = rule.by_day.iter().filter(|by_day| by_day.weekday == day.weekday());
        same.any(|by_day| [0, nth, nth_last].contains(&i16::from(by_day.nth)))
    }

    fn rules() -> impl Strategy<Value = String> {
        let day = |most: i8| {
            (-most..=most, 0..7_usize).prop_map(|(nth, day)| match nth {
                0 => WEEKDAYS[day].0.to_owned(),
                nth => format!("{nth}{}", WEEKDAYS[day].0),
            })
        };
        let part = |frequency: &'static str, most: i8| {
            (proptest::collection::vec(day(most), 0..4), 1..6_u8, 0..7_usize).prop_map(
                move |(days, interval, start)| {
                    let by_day = match days.is_empty() {
                        true => String::new(),
                        false => format!(";BYDAY={}", days.join(",")),
                    };
                    let start = WEEKDAYS[start].0;
                    format!("FREQ={frequency};INTERVAL={interval}{by_day};WKST={start}")
                },
            )
        };
        prop_oneof![part("DAILY", 0), part("WEEKLY", 0), part("MONTHLY", 5), part("YEARLY", 53)]
    }

    proptest! {
        #[test]
        fn expansion_agrees_with_checking_each_day(
            text in rules(), first in 0..3_000_i64, from in 0..3_000_i64, length in 0..800_i64,
        ) {
            let epoch = Date::constant(2020, 1, 1);
            let rule = Rule::parse(&text).unwrap();
            let [first, from, to] =
                [first, from, from + length].map(|days| plus(epoch, days).unwrap());
            let mut found = Vec::new();
            days(&rule, first, from, to, |day| {
                found.push(day);
                ControlFlow::Continue(())
            });
            let mut expected = Vec::new();
            let mut day = from;
            while day <= to {
                if day == first || is_in_rule(&rule, first, day) {
                    expected.push(day);
                }
                day = plus(day, 1).unwrap();
            }
            prop_assert_eq!(found, expected);
        }
    }
}
