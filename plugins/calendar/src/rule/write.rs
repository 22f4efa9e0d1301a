//! Writes rules.

use crate::rule::types::*;
use jiff::civil::Weekday;
use people_kit::ics::{observances::day_name, write};
use std::fmt;

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
        list(formatter, "BYDAY", &self.by.days)?;
        for (name, numbers) in self.by.lists() {
            list(formatter, name, numbers)?;
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

fn list<T: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    items: &[T],
) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        match number {
            0 => write!(formatter, ";{name}={item}")?,
            _ => write!(formatter, ",{item}")?,
        }
    }
    Ok(())
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
            "FREQ=YEARLY;BYDAY=MO;BYMONTH=1,2;BYWEEKNO=-1,20;BYYEARDAY=1,100;BYMONTHDAY=-1,15;\
                BYHOUR=9,17;BYMINUTE=0,30;BYSECOND=0,59;BYSETPOS=-1,1",
            "FREQ=HOURLY;INTERVAL=6",
        ] {
            assert_eq!(Rule::parse(text).unwrap().to_string(), text);
        }
        let loose = Rule::parse("wkst=MO;byday=mo;freq=weekly;").unwrap();
        assert_eq!(loose.to_string(), "FREQ=WEEKLY;BYDAY=MO");
        let loose = Rule::parse("FREQ=YEARLY;BYMONTH=3, 1,3;BYSECOND=60,59").unwrap();
        assert_eq!(loose.to_string(), "FREQ=YEARLY;BYMONTH=1,3;BYSECOND=59");
    }
}
