//! Recurrence rules: the supported part of RFC 5545, as a text and as a value.

use crate::limits::{LONGEST_INTERVAL, MOST_BY_DAY, MOST_REPEATS};
use jiff::civil::{Date, DateTime, Time, Weekday};
use people_kit::ics::{observances::day_name, write};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frequency {
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// A day of the week: the `nth` in its month or year, or every one if `nth` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByDay {
    pub(crate) nth: i8,
    pub(crate) weekday: Weekday,
}

/// The end of a recurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Never,
    /// The number of occurrences, including the first.
    Count(u32),
    /// The last day of the recurrence.
    Day(Date),
    /// The last local time of the recurrence.
    Local(DateTime),
    /// The last instant of the recurrence, in UTC.
    Utc(DateTime),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) frequency: Frequency,
    pub(crate) interval: u16,
    pub(crate) by_day: Vec<ByDay>,
    pub(crate) end: End,
    /// The first day of the week.
    pub(crate) week_start: Weekday,
    by_month: Option<i8>,
    by_month_day: Option<i8>,
    says_week_start: bool,
}

/// Why a text is not a supported rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The text does not follow RFC 5545.
    Malformed(&'static str),
    /// The rule follows RFC 5545, but is not supported here.
    Unsupported(&'static str),
}

const FREQUENCIES: [(&str, Frequency); 4] = [
    ("DAILY", Frequency::Daily),
    ("WEEKLY", Frequency::Weekly),
    ("MONTHLY", Frequency::Monthly),
    ("YEARLY", Frequency::Yearly),
];

pub(crate) const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

/// The parts of RFC 5545 that are not supported.
const UNSUPPORTED: [&str; 6] =
    ["BYSECOND", "BYMINUTE", "BYHOUR", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"];
/// The parts of RFC 7529, which are not supported either.
const UNSUPPORTED_SCALES: [&str; 2] = ["RSCALE", "SKIP"];

impl Rule {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut rule = Self {
            frequency: Frequency::Daily,
            interval: 1,
            by_day: Vec::new(),
            end: End::Never,
            week_start: Weekday::Monday,
            by_month: None,
            by_month_day: None,
            says_week_start: false,
        };
        let upper = text.trim().to_ascii_uppercase();
        let mut seen: Vec<&str> = Vec::new();
        for part in upper.trim_end_matches(';').split(';') {
            let (name, value) =
                part.split_once('=').ok_or(Problem::Malformed("parts as NAME=VALUE"))?;
            if seen.contains(&name) {
                return Err(Problem::Malformed("each part once"));
            }
            seen.push(name);
            rule.read(name, value)?;
        }
        if !seen.contains(&"FREQ") {
            return Err(Problem::Malformed("a FREQ"));
        }
        if seen.contains(&"COUNT") && seen.contains(&"UNTIL") {
            return Err(Problem::Malformed("COUNT or UNTIL, not both"));
        }
        let most = match rule.frequency {
            Frequency::Daily | Frequency::Weekly => 0,
            Frequency::Monthly => 5,
            Frequency::Yearly => 53,
        };
        if rule.by_day.iter().any(|day| day.nth.unsigned_abs() > most) {
            return Err(Problem::Malformed(
                "numbers in BYDAY only with FREQ=MONTHLY (up to 5) or FREQ=YEARLY (up to 53)",
            ));
        }
        Ok(rule)
    }

    fn read(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        match name {
            "FREQ" => {
                let found = FREQUENCIES.iter().find(|(known, _)| *known == value);
                self.frequency = match (found, value) {
                    (Some((_, frequency)), _) => *frequency,
                    (None, "HOURLY" | "MINUTELY" | "SECONDLY") => {
                        return Err(Problem::Unsupported("FREQ"));
                    }
                    _ => return Err(Problem::Malformed("DAILY, WEEKLY, MONTHLY or YEARLY")),
                };
            }
            "INTERVAL" => self.interval = number(value, LONGEST_INTERVAL, "INTERVAL")?,
            "COUNT" => self.end = End::Count(number(value, MOST_REPEATS, "COUNT")?),
            "UNTIL" => {
                self.end = end(value).ok_or(Problem::Malformed("an UNTIL as 20261231T235959Z"))?;
            }
            "BYDAY" => self.by_day = by_day(value)?,
            "WKST" => {
                self.week_start = weekday(value).ok_or(Problem::Malformed("a day as MO to SU"))?;
                self.says_week_start = true;
            }
            "BYMONTH" => self.by_month = Some(single(value, "BYMONTH")?),
            "BYMONTHDAY" => self.by_month_day = Some(single(value, "BYMONTHDAY")?),
            name => {
                let mut unsupported = UNSUPPORTED.iter().chain(&UNSUPPORTED_SCALES);
                let known = unsupported.find(|known| **known == name);
                let malformed = Problem::Malformed("parts of RFC 5545");
                return Err(known.map_or(malformed, |known| Problem::Unsupported(known)));
            }
        }
        Ok(())
    }

    /// Refuses what is allowed only in files.
    pub(crate) fn strict(self) -> Result<Self, Problem> {
        match (self.by_month, self.by_month_day, self.says_week_start) {
            (Some(_), _, _) => Err(Problem::Unsupported("BYMONTH")),
            (_, Some(_), _) => Err(Problem::Unsupported("BYMONTHDAY")),
            (_, _, true) => Err(Problem::Unsupported("WKST")),
            _ => Ok(self),
        }
    }

    /// Omits `BYMONTH` and `BYMONTHDAY` if they only repeat what follows from the first day;
    /// otherwise they are unsupported.
    pub(crate) fn without_implied_parts(mut self, first: Date) -> Result<Self, Problem> {
        let same_day = self.by_month_day.is_none_or(|day| day == first.day());
        let same_month = self.by_month.is_none_or(|month| month == first.month());
        let is_implied = match (self.frequency, self.by_month_day, self.by_month) {
            (_, None, None) => true,
            _ if !self.by_day.is_empty() => false,
            (Frequency::Monthly, Some(_), None) => same_day,
            (Frequency::Yearly, _, Some(_)) => same_day && same_month,
            _ => false,
        };
        if !is_implied {
            let part = if self.by_month.is_some() { "BYMONTH" } else { "BYMONTHDAY" };
            return Err(Problem::Unsupported(part));
        }
        (self.by_month, self.by_month_day) = (None, None);
        Ok(self)
    }
}

fn number<T: std::str::FromStr + PartialOrd + Default + Copy>(
    value: &str,
    most: T,
    part: &'static str,
) -> Result<T, Problem> {
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Malformed("a whole number"));
    }
    match value.parse::<T>() {
        Ok(number) if number == T::default() => Err(Problem::Malformed("a number above 0")),
        Ok(number) if number <= most => Ok(number),
        _ => Err(Problem::Unsupported(part)),
    }
}

/// Parses one number; lists are not supported.
fn single(value: &str, part: &'static str) -> Result<i8, Problem> {
    value.parse().map_err(|_error| Problem::Unsupported(part))
}

fn weekday(value: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(name, _)| *name == value).map(|(_, weekday)| *weekday)
}

fn by_day(value: &str) -> Result<Vec<ByDay>, Problem> {
    let mut days = Vec::new();
    for item in value.split(',') {
        let malformed = Problem::Malformed("days as MO, 2TU or -1FR");
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

impl fmt::Display for ByDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nth != 0 {
            write!(formatter, "{}", self.nth)?;
        }
        formatter.write_str(day_name(self.weekday))
    }
}

/// Writes the rule as in RFC 5545.
impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frequency = FREQUENCIES.iter().find(|(_, known)| *known == self.frequency);
        write!(formatter, "FREQ={}", frequency.map_or("DAILY", |(name, _)| name))?;
        if self.interval != 1 {
            write!(formatter, ";INTERVAL={}", self.interval)?;
        }
        for (number, day) in self.by_day.iter().enumerate() {
            write!(formatter, "{}{day}", if number == 0 { ";BYDAY=" } else { "," })?;
        }
        if self.week_start != Weekday::Monday {
            write!(formatter, ";WKST={}", day_name(self.week_start))?;
        }
        match self.end {
            End::Never => Ok(()),
            End::Count(count) => write!(formatter, ";COUNT={count}"),
            End::Day(day) => write!(formatter, ";UNTIL={}", write::date(day)),
            End::Local(at) => write!(formatter, ";UNTIL={}", write::local(at)),
            End::Utc(at) => write!(formatter, ";UNTIL={}Z", write::local(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_parsed_and_formatted() {
        for text in [
            "FREQ=DAILY",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR;COUNT=10",
            "FREQ=MONTHLY;BYDAY=2TU,-1FR;UNTIL=20261231T235959Z",
            "FREQ=YEARLY;BYDAY=-53SU;UNTIL=20261231",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;WKST=SU;UNTIL=20261231T000000",
        ] {
            assert_eq!(Rule::parse(text).unwrap().to_string(), text);
        }
        let loose = Rule::parse("wkst=MO;byday=mo;freq=weekly;").unwrap();
        assert_eq!(loose.to_string(), "FREQ=WEEKLY;BYDAY=MO");
    }

    #[test]
    fn malformed_rules_differ_from_unsupported_ones() {
        use Problem::{Malformed, Unsupported};
        let strict = |text: &str| Rule::parse(text).and_then(Rule::strict).map(drop);
        let malformed = " ; FREQ INTERVAL=2 FREQ=DAILY;FREQ=DAILY FREQ=SOMETIMES FREQ=DAILY;INTERVAL=0 \
            FREQ=DAILY;COUNT=0 FREQ=DAILY;COUNT=-1 FREQ=DAILY;COUNT= \
            FREQ=DAILY;COUNT=1;UNTIL=20261231 FREQ=DAILY;UNTIL=20261331 FREQ=DAILY;UNTIL=2026-12-31 \
            FREQ=WEEKLY;BYDAY=1MO FREQ=MONTHLY;BYDAY=6MO FREQ=MONTHLY;BYDAY=0MO \
            FREQ=MONTHLY;BYDAY=ÄÖ FREQ=MONTHLY;BYDAY= FREQ=DAILY;X-MINE=1";
        for text in malformed.split(' ') {
            assert!(matches!(strict(text), Err(Malformed(_))), "{text}: {:?}", strict(text));
        }
        for (text, part) in [
            ("FREQ=HOURLY", "FREQ"),
            ("FREQ=DAILY;BYHOUR=9", "BYHOUR"),
            ("FREQ=MONTHLY;BYMONTHDAY=15", "BYMONTHDAY"),
            ("FREQ=YEARLY;BYMONTH=1,2", "BYMONTH"),
            ("FREQ=WEEKLY;WKST=SU", "WKST"),
            ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1", "BYSETPOS"),
            ("FREQ=DAILY;COUNT=1000000000", "COUNT"),
            ("FREQ=DAILY;COUNT=99999999999999999999", "COUNT"),
            ("FREQ=DAILY;INTERVAL=1000", "INTERVAL"),
        ] {
            assert_eq!(strict(text), Err(Unsupported(part)), "{text}");
        }
    }

    #[test]
    fn parts_implied_by_the_first_day_are_omitted() {
        let simplified = |text: &str| {
            let rule =
                Rule::parse(text).unwrap().without_implied_parts(Date::constant(2026, 3, 15));
            rule.map(|rule| rule.to_string())
        };
        assert_eq!(simplified("FREQ=MONTHLY;BYMONTHDAY=15").unwrap(), "FREQ=MONTHLY");
        assert_eq!(simplified("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=15").unwrap(), "FREQ=YEARLY");
        assert_eq!(simplified("FREQ=YEARLY;BYMONTH=3").unwrap(), "FREQ=YEARLY");
        for text in [
            "FREQ=MONTHLY;BYMONTHDAY=16",
            "FREQ=YEARLY;BYMONTHDAY=15",
            "FREQ=YEARLY;BYMONTH=4",
            "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
            "FREQ=DAILY;BYMONTH=3",
        ] {
            assert!(matches!(simplified(text), Err(Problem::Unsupported(_))), "{text}");
        }
    }
}
