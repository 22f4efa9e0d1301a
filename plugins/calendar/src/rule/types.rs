//! The parts of a rule.

use crate::limits::{MOST_A_DAY, MOST_REPEATS};
use jiff::civil::{Date, DateTime, Weekday};

/// The frequencies, in the order of their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Frequency {
    Secondly,
    Minutely,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// A day of the week: the `nth` in its month or year, or every one if `nth` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByDay {
    pub(crate) nth: i16,
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

/// The parts that select or add times within a period. The numbers are in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) months: Vec<i16>,
    pub(crate) weeks: Vec<i16>,
    pub(crate) year_days: Vec<i16>,
    pub(crate) month_days: Vec<i16>,
    pub(crate) days: Vec<ByDay>,
    pub(crate) hours: Vec<i16>,
    pub(crate) minutes: Vec<i16>,
    pub(crate) seconds: Vec<i16>,
    /// The positions in the set of each period, from its end if they are negative.
    pub(crate) positions: Vec<i16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) frequency: Frequency,
    pub(crate) interval: u32,
    pub(crate) by: By,
    pub(crate) end: End,
    /// The first day of the week.
    pub(crate) week_start: Weekday,
}

/// The reasons why a text is not a supported rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The text does not follow RFC 5545.
    Malformed(&'static str),
    /// The rule follows RFC 5545, but is not supported here.
    Unsupported(&'static str),
}

pub(crate) const FREQUENCIES: [(&str, Frequency); 7] = [
    ("SECONDLY", Frequency::Secondly),
    ("MINUTELY", Frequency::Minutely),
    ("HOURLY", Frequency::Hourly),
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

impl By {
    /// Returns the lists of numbers with their names, in the order in which they are written.
    pub(crate) fn lists(&self) -> [(&'static str, &[i16]); 8] {
        [
            ("BYMONTH", &self.months),
            ("BYWEEKNO", &self.weeks),
            ("BYYEARDAY", &self.year_days),
            ("BYMONTHDAY", &self.month_days),
            ("BYHOUR", &self.hours),
            ("BYMINUTE", &self.minutes),
            ("BYSECOND", &self.seconds),
            ("BYSETPOS", &self.positions),
        ]
    }

    /// Whether a part selects days within a month or a year.
    pub(crate) fn selects_days(&self) -> bool {
        let lists = [&self.weeks, &self.year_days, &self.month_days];
        !self.days.is_empty() || lists.iter().any(|list| !list.is_empty())
    }
}

impl Rule {
    /// Returns the most periods or occurrences that one day can have.
    pub(crate) fn most_a_day(&self) -> u32 {
        let interval = |unit: u32| unit.div_ceil(self.interval.max(1));
        let periods = match self.frequency {
            Frequency::Secondly => interval(86_400),
            Frequency::Minutely => interval(1_440),
            Frequency::Hourly => interval(24),
            _ => 1,
        };
        let added = |list: &[i16], unit: Frequency| match self.frequency > unit {
            true => u32::try_from(list.len().max(1)).unwrap_or(u32::MAX),
            false => 1,
        };
        periods
            .saturating_mul(added(&self.by.hours, Frequency::Hourly))
            .saturating_mul(added(&self.by.minutes, Frequency::Minutely))
            .saturating_mul(added(&self.by.seconds, Frequency::Secondly))
    }

    /// Refuses a rule with more occurrences a day than a calendar here expands.
    pub(crate) fn bounded(self) -> Result<Self, Problem> {
        match self.most_a_day() <= MOST_A_DAY {
            true => Ok(self),
            false => Err(Problem::Unsupported("FREQ")),
        }
    }

    /// Refuses what is allowed only in files.
    pub(crate) fn strict(self) -> Result<Self, Problem> {
        let lists = [&self.by.hours, &self.by.minutes, &self.by.seconds];
        match self.end {
            _ if self.frequency < Frequency::Daily => Err(Problem::Unsupported("FREQ")),
            _ if lists.iter().any(|list| !list.is_empty()) => Err(Problem::Unsupported("BYHOUR")),
            End::Count(count) if count > MOST_REPEATS => Err(Problem::Unsupported("COUNT")),
            _ => Ok(self),
        }
    }
}
