//! Parses rules.

use crate::{
    limits::{LONGEST_INTERVAL, MOST_BY_DAY, MOST_LISTED},
    rule::types::*,
};
use jiff::civil::{Date, DateTime, Time, Weekday};

/// The parts that a rule of each of these frequencies must not have.
const EXCLUDED: [(&[&str], &[Frequency], &str); 3] = [
    (
        &["BYWEEKNO"],
        &[
            Frequency::Secondly,
            Frequency::Minutely,
            Frequency::Hourly,
            Frequency::Daily,
            Frequency::Weekly,
            Frequency::Monthly,
        ],
        "BYWEEKNO only with FREQ=YEARLY",
    ),
    (
        &["BYYEARDAY"],
        &[Frequency::Daily, Frequency::Weekly, Frequency::Monthly],
        "no BYYEARDAY with FREQ=DAILY, WEEKLY or MONTHLY",
    ),
    (&["BYMONTHDAY"], &[Frequency::Weekly], "no BYMONTHDAY with FREQ=WEEKLY"),
];

impl Rule {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut rule = Self {
            frequency: Frequency::Daily,
            interval: 1,
            by: By::default(),
            end: End::Never,
            week_start: Weekday::Monday,
        };
        let upper = text.trim().to_ascii_uppercase();
        let (mut seen, mut read): (Vec<&str>, Vec<(&str, &str)>) = (Vec::new(), Vec::new());
        // Some programs write the name of the property twice, or words that are no part of a rule.
        for part in upper.trim_start_matches("RRULE:").split(';') {
            let Some((name, value)) = part.split_once('=') else { continue };
            let (name, value) = (name.trim(), value.trim());
            // Some programs write a part twice.
            if read.contains(&(name, value)) {
                continue;
            }
            if seen.contains(&name) {
                return Err(Problem::Malformed("each part once"));
            }
            seen.push(name);
            read.push((name, value));
            rule.read(name, value)?;
        }
        if !seen.contains(&"FREQ") {
            return Err(Problem::Malformed("a FREQ"));
        }
        if seen.contains(&"COUNT") && seen.contains(&"UNTIL") {
            return Err(Problem::Malformed("COUNT or UNTIL, not both"));
        }
        if seen.contains(&"BYSETPOS") && !seen.iter().any(|name| is_selecting(name)) {
            return Err(Problem::Malformed("another BY part besides BYSETPOS"));
        }
        let mut excluded = EXCLUDED.iter().filter(|(names, frequencies, _)| {
            frequencies.contains(&rule.frequency) && names.iter().any(|name| seen.contains(name))
        });
        if let Some((_, _, expected)) = excluded.next() {
            return Err(Problem::Malformed(expected));
        }
        let most = match rule.frequency {
            Frequency::Monthly => 5,
            Frequency::Yearly if rule.by.weeks.is_empty() => 53,
            _ => 0,
        };
        if rule.by.days.iter().any(|day| day.nth.unsigned_abs() > most) {
            return Err(Problem::Malformed(
                "numbers in BYDAY only with FREQ=MONTHLY (up to 5) or FREQ=YEARLY (up to 53)",
            ));
        }
        Ok(rule)
    }

    fn read(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        let by = &mut self.by;
        match name {
            "FREQ" => {
                let found = FREQUENCIES.iter().find(|(known, _)| *known == value);
                let (_, frequency) = found.ok_or(Problem::Malformed("a FREQ of RFC 5545"))?;
                self.frequency = *frequency;
            }
            "INTERVAL" => {
                self.interval = positive(value, "INTERVAL")?;
                if self.interval > LONGEST_INTERVAL {
                    return Err(Problem::Unsupported("INTERVAL"));
                }
            }
            "COUNT" => self.end = End::Count(positive(value, "COUNT")?),
            "UNTIL" => {
                self.end = end(value).ok_or(Problem::Malformed("an UNTIL as 20261231T235959Z"))?;
            }
            "WKST" => {
                self.week_start = weekday(value).ok_or(Problem::Malformed("a day as MO to SU"))?;
            }
            "BYDAY" => by.days = by_day(value)?,
            "BYMONTH" => by.months = numbers(value, 1, 12)?,
            "BYWEEKNO" => by.weeks = numbers(value, -53, 53)?,
            "BYYEARDAY" => by.year_days = numbers(value, -366, 366)?,
            "BYMONTHDAY" => by.month_days = numbers(value, -31, 31)?,
            "BYHOUR" => by.hours = numbers(value, 0, 23)?,
            "BYMINUTE" => by.minutes = numbers(value, 0, 59)?,
            // A leap second becomes the second before it.
            "BYSECOND" => {
                by.seconds =
                    numbers(value, 0, 60)?.into_iter().map(|second| second.min(59)).collect();
                by.seconds.dedup();
            }
            "BYSETPOS" => by.positions = numbers(value, -366, 366)?,
            // The parts of RFC 7529 with values that change nothing.
            "RSCALE" if value == "GREGORIAN" => {}
            "SKIP" if value == "OMIT" => {}
            "RSCALE" => return Err(Problem::Unsupported("RSCALE")),
            "SKIP" => return Err(Problem::Unsupported("SKIP")),
            _ => return Err(Problem::Malformed("parts of RFC 5545")),
        }
        Ok(())
    }
}

fn is_selecting(name: &str) -> bool {
    name.starts_with("BY") && name != "BYSETPOS"
}

/// Parses a number above 0.
fn positive(value: &str, part: &'static str) -> Result<u32, Problem> {
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Malformed("a whole number"));
    }
    match value.parse() {
        Ok(0) => Err(Problem::Malformed("a number above 0")),
        Ok(number) => Ok(number),
        Err(_) => Err(Problem::Unsupported(part)),
    }
}

/// Parses a list of numbers, which is then in order. If the least is not 0, neither is any number.
fn numbers(value: &str, least: i16, most: i16) -> Result<Vec<i16>, Problem> {
    let mut numbers = Vec::new();
    for item in value.split(',') {
        let number = item.trim().parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        let number = number.filter(|number| least == 0 || *number != 0);
        numbers.push(number.ok_or(Problem::Malformed("numbers in the range of their part"))?);
        if numbers.len() > MOST_LISTED {
            return Err(Problem::Malformed("fewer numbers"));
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn weekday(value: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(name, _)| *name == value).map(|(_, weekday)| *weekday)
}

fn by_day(value: &str) -> Result<Vec<ByDay>, Problem> {
    let mut days = Vec::new();
    for item in value.split(',') {
        let malformed = Problem::Malformed("days as MO, 2TU or -1FR");
        let item = item.trim();
        let at = item.len().checked_sub(2).ok_or(malformed)?;
        let (nth, name) = item.split_at_checked(at).ok_or(malformed)?;
        let weekday = weekday(name).ok_or(malformed)?;
        let nth = match nth {
            "" => 0,
            nth => nth.parse().ok().filter(|nth| *nth != 0).ok_or(malformed)?,
        };
        days.push(ByDay { nth, weekday });
    }
    match days.len() <= MOST_BY_DAY {
        true => Ok(days),
        false => Err(Problem::Unsupported("BYDAY")),
    }
}

fn end(value: &str) -> Option<End> {
    match (value.len(), value.strip_suffix('Z')) {
        (8, _) => date(value).map(End::Day),
        (_, Some(utc)) => date_time(utc).map(End::Utc),
        (_, None) => date_time(value).map(End::Local),
    }
}

/// Parses a DATE of RFC 5545.
pub(crate) fn date(text: &str) -> Option<Date> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize, to: usize| i8::try_from(number(from, to)?).ok();
    Date::new(number(0, 4)?, small(4, 6)?, small(6, 8)?).ok()
}

/// Parses a DATE-TIME of RFC 5545 without its `Z`. A leap second becomes the second before it.
pub(crate) fn date_time(text: &str) -> Option<DateTime> {
    let (day, time) = text.split_once('T')?;
    if time.len() != 6 || !time.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<i8>().ok();
    let second = number(4, 6).map(|second| if second == 60 { 59 } else { second })?;
    Some(date(day)?.to_datetime(Time::new(number(0, 2)?, number(2, 4)?, second, 0).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_rules_differ_from_unsupported_ones() {
        use Problem::{Malformed, Unsupported};
        let strict =
            |text: &str| Rule::parse(text).and_then(Rule::bounded).and_then(Rule::strict).map(drop);
        let malformed = " ; FREQ INTERVAL=2 FREQ=DAILY;FREQ=WEEKLY FREQ=SOMETIMES FREQ=DAILY;INTERVAL=0 \
            FREQ=DAILY;COUNT=0 FREQ=DAILY;COUNT=-1 FREQ=DAILY;COUNT= \
            FREQ=DAILY;COUNT=1;UNTIL=20261231 FREQ=DAILY;UNTIL=20261331 FREQ=DAILY;UNTIL=2026-12-31 \
            FREQ=WEEKLY;BYDAY=1MO FREQ=MONTHLY;BYDAY=6MO FREQ=MONTHLY;BYDAY=0MO \
            FREQ=MONTHLY;BYDAY=ÄÖ FREQ=MONTHLY;BYDAY= FREQ=DAILY;X-MINE=1 \
            FREQ=MONTHLY;BYMONTHDAY=32 FREQ=MONTHLY;BYMONTHDAY=0 FREQ=MONTHLY;BYSETPOS=1 \
            FREQ=WEEKLY;BYMONTHDAY=2 FREQ=MONTHLY;BYWEEKNO=2 FREQ=DAILY;BYYEARDAY=3 \
            FREQ=YEARLY;BYWEEKNO=2;BYDAY=1MO FREQ=YEARLY;BYMONTH=13 FREQ=DAILY;BYHOUR=24";
        for text in malformed.split(' ') {
            assert!(matches!(strict(text), Err(Malformed(_))), "{text}: {:?}", strict(text));
        }
        for (text, part) in [
            ("FREQ=HOURLY", "FREQ"),
            ("FREQ=SECONDLY", "FREQ"),
            ("FREQ=DAILY;BYHOUR=9", "BYHOUR"),
            ("FREQ=DAILY;COUNT=1001", "COUNT"),
            ("FREQ=DAILY;COUNT=99999999999999999999", "COUNT"),
            ("FREQ=DAILY;INTERVAL=1000000000", "INTERVAL"),
            ("RSCALE=HEBREW;FREQ=YEARLY", "RSCALE"),
        ] {
            assert_eq!(strict(text), Err(Unsupported(part)), "{text}");
        }
        for text in [
            "FREQ=MONTHLY;BYMONTHDAY=15,-1",
            "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1",
            "FREQ=YEARLY;BYMONTH=1,2;BYDAY=2SU",
            "FREQ=YEARLY;BYWEEKNO=20",
            "RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=OMIT",
            "FREQ=WEEKLY;WKST=SU",
        ] {
            assert_eq!(strict(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_rule_has_at_most_96_occurrences_a_day() {
        for (text, expected) in [
            ("FREQ=HOURLY", 24),
            ("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9", 72),
            ("FREQ=MINUTELY", 1_440),
            ("FREQ=SECONDLY", 86_400),
            ("FREQ=SECONDLY;INTERVAL=86400", 1),
            ("FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,20,40", 6),
            ("FREQ=HOURLY;INTERVAL=5;BYHOUR=9", 5),
        ] {
            let rule = Rule::parse(text).unwrap();
            assert_eq!(rule.most_a_day(), expected, "{text}");
            assert_eq!(rule.bounded().is_ok(), expected <= 96, "{text}");
        }
    }
}
