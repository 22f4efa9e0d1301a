//! The expansion of recurrence rules into local times.

mod filter;
mod periods;

pub(crate) use filter::plus;

use crate::rule::*;
use jiff::civil::DateTime;
use periods::Periods;
use std::ops::ControlFlow;

/// The outcome of an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// All starts in the range were visited.
    Complete,
    /// The visitor ended it.
    Stopped,
    /// It took more steps than it had.
    TooLong,
}

/// Visits the starts of a rule between `from` and `to` in order, including the first one, even if it
/// does not match the rule. The end of the rule is not considered here: `visit` breaks at the end.
/// Each day, period or time that is looked at takes a step from `steps`.
pub(crate) fn starts(
    rule: &Rule,
    first: DateTime,
    (from, to): (DateTime, DateTime),
    steps: &mut u32,
    mut visit: impl FnMut(DateTime) -> ControlFlow<()>,
) -> Walk {
    if first >= from && first <= to && visit(first).is_break() {
        return Walk::Stopped;
    }
    let (from, periods) = (from.max(first), Periods::new(rule, first));
    let mut found = Vec::new();
    let mut number = periods.before(from);
    while let Some(start) = periods.start(number).filter(|start| *start <= to) {
        found.clear();
        let taken = periods.fill(start, &mut found);
        let Some(left) = steps.checked_sub(taken) else { return Walk::TooLong };
        *steps = left;
        for at in found.iter().filter(|at| **at > first && **at >= from && **at <= to) {
            if visit(*at).is_break() {
                return Walk::Stopped;
            }
        }
        number += 1;
    }
    Walk::Complete
}

/// Whether the rule itself matches its first start.
pub(crate) fn matches_first(rule: &Rule, first: DateTime) -> bool {
    let periods = Periods::new(rule, first);
    let mut found = Vec::new();
    periods.start(0).into_iter().for_each(|start| {
        periods.fill(start, &mut found);
    });
    found.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{Date, DateTime};
    use portolan_sdk::prelude::Value;

    const ENOUGH: u32 = 1_000_000;

    fn some(text: &str, first: &str, from: &str, to: &str) -> Vec<String> {
        let rule = Rule::parse(text).unwrap();
        let mut found = Vec::new();
        let [first, from, to] = [first, from, to].map(|date| date.parse::<Date>().unwrap());
        let range = (from.at(0, 0, 0, 0), to.at(23, 59, 59, 0));
        let walk = starts(&rule, first.at(0, 0, 0, 0), range, &mut { ENOUGH }, |start| {
            found.push(start.date().to_string());
            ControlFlow::Continue(())
        });
        assert_eq!(walk, Walk::Complete);
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
        assert_eq!(last("FREQ=HOURLY;INTERVAL=100000", "9999-12-31"), 1);
        let earliest = "-009999-01-02";
        assert!(some("FREQ=WEEKLY;BYDAY=SU", earliest, earliest, "-009999-01-20").len() > 1);
    }

    #[test]
    fn a_walk_ends_with_its_steps() {
        for text in [
            "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYSETPOS=5",
            "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
        ] {
            let rule = Rule::parse(text).unwrap();
            let first = Date::constant(2026, 1, 1).at(9, 0, 0, 0);
            let mut found = 0;
            let walk = starts(&rule, first, (first, DateTime::MAX), &mut { 10_000 }, |_start| {
                found += 1;
                ControlFlow::Continue(())
            });
            assert_eq!((walk, found), (Walk::TooLong, 1), "{text}");
        }
    }

    #[test]
    fn times_that_positions_leave_out_take_steps() {
        let hours: Vec<String> = (0..24).map(|hour| hour.to_string()).collect();
        let text = format!(
            "FREQ=YEARLY;BYMONTH=1;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={};BYMINUTE=0,15,30,45;BYSETPOS=1",
            hours.join(",")
        );
        let first = Date::constant(2026, 1, 1).at(0, 0, 0, 0);
        let mut steps = ENOUGH;
        let range = (first, Date::constant(2026, 12, 31).at(0, 0, 0, 0));
        starts(&Rule::parse(&text).unwrap(), first, range, &mut steps, |_start| {
            ControlFlow::Continue(())
        });
        assert!(ENOUGH - steps >= 31 * 96, "{} steps", ENOUGH - steps);
    }

    /// `rules.json` says what `python-dateutil` finds for rules of all kinds, see
    /// `tests/corpora/ics/README.md`.
    #[test]
    fn rules_expand_as_by_dateutil() {
        let text = include_str!("../../../../tests/corpora/ics/rules.json");
        let cases = text.parse::<Value>().unwrap();
        let cases = cases.as_array().unwrap();
        assert!(cases.len() > 1_000, "{}", cases.len());
        for case in cases {
            let text = |name: &str| case[name].as_str().unwrap();
            let time = |name: &str| text(name).parse::<DateTime>().unwrap();
            let rule =
                Rule::parse(text("rule")).unwrap_or_else(|problem| panic!("{case} {problem:?}"));
            let mut found: Vec<String> = Vec::new();
            let range = (time("from"), time("to"));
            let walk = starts(&rule, time("first"), range, &mut { ENOUGH }, |start| {
                found.push(start.to_string());
                ControlFlow::Continue(())
            });
            let expected = case["starts"].as_array().unwrap().iter();
            let expected = expected.map(|at| at.as_str().unwrap().to_owned()).collect();
            assert_eq!((walk, found), (Walk::Complete, expected), "{case}");
            assert_eq!(matches_first(&rule, time("first")), case["matches_first"], "{case}");
        }
    }
}
