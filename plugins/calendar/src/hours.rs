//! Availability: the hours in which others can book a person.

use crate::{
    documents, expand,
    limits::{DAY, MINUTE},
    refusals::*,
    spans::*,
    types::{AVAILABILITIES, Availability, Day, Hours, SetHours},
    zones::*,
};
use jiff::civil::{Date, DateTime};
use portolan_sdk::prelude::*;

/// Parses a text such as `09:00` into minutes since midnight.
fn minutes(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    Some(hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
}

impl Hours {
    /// Returns the zone; UTC if the zone no longer exists.
    pub(crate) fn zone(&self) -> Zone {
        Zone::named(&self.time_zone).unwrap_or_else(Zone::utc)
    }

    /// Returns the available hours in this range, merged.
    pub(crate) fn open(&self, zone: &Zone, range: Span) -> Vec<Span> {
        let mut open = Vec::new();
        let mut day = expand::plus(zone.date(range.start), -1);
        let last = zone.date(range.end);
        while let Some(date) = day.filter(|date| *date <= last) {
            for rule in self.rules.iter().filter(|rule| includes_weekday(&rule.days, date)) {
                let at = |text: &str| Some(zone.instant(local(date, minutes(text)?)?));
                // Hours that the clock skips do not exist.
                if let (Some(start), Some(end)) = (at(&rule.from), at(&rule.to)) {
                    open.extend(Span::new(start, end).within(range));
                }
            }
            day = expand::plus(date, 1);
        }
        merged(open)
    }

    /// Returns the times in this range that others cannot book: outside of the hours, before the
    /// minimum notice, beyond the horizon, within the buffer of busy time, and on days with the
    /// maximum of meetings. `busy` and `meetings` cover one more day on both sides.
    pub(crate) fn closed(
        &self,
        range: Span,
        now: i64,
        busy: &[Span],
        meetings: &[Span],
    ) -> Vec<Span> {
        let zone = self.zone();
        let mut closed = gaps(range, &self.open(&zone, range));
        let notice = i64::from(self.min_notice_min) * MINUTE;
        closed.push(Span::new(i64::MIN, now.saturating_add(notice)));
        closed.push(Span::new(now.saturating_add(i64::from(self.horizon_days) * DAY), i64::MAX));
        let buffer = i64::from(self.buffer_min) * MINUTE;
        closed.extend(busy.iter().map(|span| span.widened(buffer)));
        closed.extend(self.full(&zone, meetings));
        merged(closed)
    }

    /// Returns the days with the maximum of meetings.
    fn full(&self, zone: &Zone, meetings: &[Span]) -> Vec<Span> {
        let Some(most) = self.max_per_day else { return Vec::new() };
        let mut days: Vec<Date> = meetings.iter().map(|span| zone.date(span.start)).collect();
        days.sort_unstable();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let groups = days.chunk_by(|one, other| one == other);
        let full = groups.filter(|group| group.len() >= most).filter_map(|group| group.first());
        let whole = |date: &Date| {
            let at = |date: Date| zone.instant(date.at(0, 0, 0, 0));
            Some(Span::new(at(*date), at(expand::plus(*date, 1)?)))
        };
        full.filter_map(whole).collect()
    }
}

fn includes_weekday(days: &[Day], date: Date) -> bool {
    let weekday = date.weekday().to_monday_zero_offset();
    days.iter().any(|day| *day as i8 == weekday)
}

fn local(date: Date, minutes: i64) -> Option<DateTime> {
    let date = expand::plus(date, minutes / 1440)?;
    let hour = i8::try_from(minutes % 1440 / 60).ok()?;
    Some(date.at(hour, i8::try_from(minutes % 60).ok()?, 0, 0))
}

pub(crate) fn view(stored: Option<Stored<Hours>>) -> Availability {
    let version = stored.as_ref().map_or(0, |stored| stored.revision);
    Availability { set: stored.is_some(), version, hours: stored.map(|stored| stored.value) }
}

/// Sets the availability, and replaces the one before.
pub(crate) fn set(owner_id: &str, input: SetHours) -> Result<Availability> {
    let SetHours { mut hours, expected_version } = input;
    let zone = Zone::named(&hours.time_zone);
    let zone = zone.ok_or_else(|| CalendarError::no_zone("/time_zone"))?;
    zone.name().clone_into(&mut hours.time_zone);
    for (number, rule) in hours.rules.iter().enumerate() {
        if minutes(&rule.from) >= minutes(&rule.to) {
            let pointer = format!("/rules/{number}/to");
            return Err(CalendarError::validation(&pointer, "after_from", "a time after `from`"));
        }
    }
    let stored = documents::hours(owner_id)?;
    let version = stored.as_ref().map_or(0, |stored| stored.revision);
    ensure_version(expected_version, version, || view(stored.clone()), get_availability())?;
    let mut stored = match stored {
        Some(stored) => Stored { value: hours, ..stored },
        None => Stored::new(owner_id, hours, 0),
    };
    AVAILABILITIES.save(&mut stored)?;
    Ok(view(Some(stored)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::WeeklyRule;
    use jiff::Timestamp;

    fn hours(rules: &[(&[Day], &str, &str)]) -> Hours {
        let rule = |(days, from, to): &(&[Day], &str, &str)| WeeklyRule {
            days: days.to_vec(),
            from: (*from).into(),
            to: (*to).into(),
        };
        Hours {
            rules: rules.iter().map(rule).collect(),
            time_zone: "America/Los_Angeles".into(),
            buffer_min: 0,
            min_notice_min: 0,
            max_per_day: None,
            horizon_days: 60,
        }
    }

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    /// Returns the open hours between two midnights in UTC, each as its start and its end.
    fn open(hours: &Hours, from: &str, to: &str) -> Vec<String> {
        let midnight = |day: &str| at(&format!("{day}T00:00:00Z"));
        let spans = hours.open(&hours.zone(), Span::new(midnight(from), midnight(to)));
        let text = |at| Timestamp::from_millisecond(at).unwrap().to_string();
        spans.iter().map(|span| format!("{} {}", text(span.start), text(span.end))).collect()
    }

    #[test]
    fn hours_follow_the_clock_over_both_changes() {
        let sundays = hours(&[(&[Day::Su], "09:00", "10:00")]);
        assert_eq!(
            open(&sundays, "2026-10-25", "2026-11-09"),
            [
                "2026-10-25T16:00:00Z 2026-10-25T17:00:00Z",
                "2026-11-01T17:00:00Z 2026-11-01T18:00:00Z",
                "2026-11-08T17:00:00Z 2026-11-08T18:00:00Z",
            ]
        );
        assert_eq!(
            open(&sundays, "2027-03-07", "2027-03-15"),
            [
                "2027-03-07T17:00:00Z 2027-03-07T18:00:00Z",
                "2027-03-14T16:00:00Z 2027-03-14T17:00:00Z",
            ]
        );
        // On the day of the autumn change, 01:00 to 02:00 lasts two hours; on that of the spring
        // change, 02:00 to 03:00 does not exist.
        let early = hours(&[(&[Day::Su], "01:00", "02:00")]);
        let autumn = open(&early, "2026-11-01", "2026-11-02");
        assert_eq!(autumn, ["2026-11-01T08:00:00Z 2026-11-01T10:00:00Z"]);
        let skipped = hours(&[(&[Day::Su], "02:00", "03:00")]);
        assert!(open(&skipped, "2027-03-14", "2027-03-15").is_empty());
        let all = hours(&[(&[Day::Su, Day::Mo], "00:00", "24:00")]);
        let two_days = open(&all, "2026-11-01", "2026-11-05");
        assert_eq!(two_days, ["2026-11-01T07:00:00Z 2026-11-03T08:00:00Z"]);
    }

    #[test]
    fn others_cannot_book_closed_times() {
        let mut mondays = hours(&[(&[Day::Mo], "09:00", "12:00")]);
        (mondays.buffer_min, mondays.min_notice_min, mondays.horizon_days) = (10, 30, 7);
        let range = Span::new(at("2026-11-02T00:00:00Z"), at("2026-11-20T00:00:00Z"));
        let now = at("2026-11-02T17:00:00Z");
        let busy = [Span::new(at("2026-11-02T18:30:00Z"), at("2026-11-02T19:00:00Z"))];
        let bookable = |hours: &Hours, meetings: &[Span]| {
            let left = gaps(range, &hours.closed(range, now, &busy, meetings));
            let minutes = |span: &Span| ((span.start - now) / MINUTE, (span.end - now) / MINUTE);
            left.iter().map(minutes).collect::<Vec<_>>()
        };
        // The second Monday is within the horizon only up to its last instant.
        assert_eq!(bookable(&mondays, &[]), [(30, 80), (130, 180)]);
        mondays.horizon_days = 8;
        let second = 7 * 1440;
        assert_eq!(bookable(&mondays, &[]), [(30, 80), (130, 180), (second, second + 180)]);
        mondays.max_per_day = Some(1);
        assert_eq!(bookable(&mondays, &busy), [(second, second + 180)]);
        mondays.rules.clear();
        assert_eq!(bookable(&mondays, &[]), []);
    }
}
