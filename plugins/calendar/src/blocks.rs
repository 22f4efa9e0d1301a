//! Blocks: times that people set aside.

use crate::{
    busy::{self, ensure_scheduler},
    documents::*,
    limits::{LONGEST_BLOCK, MOST_A_DAY_OF_PERSON, MOST_BLOCKS, MOST_RULE_STEPS},
    refusals::*,
    rule::*,
    series::*,
    types::*,
    zones::*,
};
use jiff::{
    Timestamp,
    civil::{Date, DateTime},
};
use people_kit::text::{Faults, Lines, plain};
use portolan_sdk::prelude::*;

/// A time of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Day(Date),
    Local(DateTime),
    Instant(Timestamp),
}

impl Moment {
    fn parse(text: &str) -> Option<Self> {
        let Some((_, time)) = text.split_once('T') else {
            return text.parse().ok().map(Self::Day);
        };
        match time.contains(['Z', '+', '-']) {
            true => text.parse().ok().map(Self::Instant),
            false => text.parse().ok().map(Self::Local),
        }
    }

    /// Returns the local time in the zone, without fractions of a second.
    fn local(self, zone: &Zone) -> Option<DateTime> {
        let local = match self {
            Self::Day(date) => date.at(0, 0, 0, 0),
            Self::Local(local) => local,
            Self::Instant(instant) => zone.local(instant.as_millisecond()),
        };
        local.with().subsec_nanosecond(0).build().ok()
    }
}

/// Adds a block. The next step lists the events from its first occurrence on.
pub(crate) fn add(call: &Call, input: AddBlock) -> Result<Answer<BlockView>> {
    let me = call.require_owner()?;
    let owner_id = match input.owner_id.as_str() {
        ME => me,
        other => other,
    };
    if owner_id != me {
        ensure_scheduler(call, owner_id)?;
        if input.label.is_some() {
            let expected = "no label in another person's calendar";
            return Err(CalendarError::validation("/label", "own_calendar", expected));
        }
    }
    let zone = match &input.time_zone {
        Some(name) => Zone::named(name),
        None => Some(home(owner_id)?.unwrap_or_else(Zone::utc)),
    };
    let zone = zone.ok_or_else(|| CalendarError::no_zone("/time_zone"))?;
    let series = series(&input, zone)?;
    let mut faults = Faults::default();
    let label = input.label.as_deref().map(|label| plain("/label", label, Lines::One, &mut faults));
    faults.check().map_err(CalendarError::Text)?;
    let all_day = !input.start.contains('T');
    let block = Block { label, ..Block::of(owner_id, Source::Added, &series, all_day) };
    let change = Change::of(owner_id)?;
    if block.rrule.is_some() {
        ensure_few_a_day(a_day(&all(owner_id)?).saturating_add(block.most_a_day()))?;
    }
    let stored = BLOCKS.add(call.new_id("blk"), block, call.now())?;
    change.save(1, 0)?;
    let begins = busy::text(stored.value.begins);
    Ok(Answer::new(view(&stored)).next(list().field("start", begins)))
}

/// Parses the block, or reports what is wrong with it.
fn series(input: &AddBlock, zone: Zone) -> Result<Series> {
    let moment = |pointer: &str, text: &str| {
        let expected = "a date, a local time, or an instant of RFC 3339";
        Moment::parse(text).ok_or_else(|| CalendarError::validation(pointer, "time", expected))
    };
    let (start, end) = (moment("/start", &input.start)?, moment("/end", &input.end)?);
    if matches!(start, Moment::Day(_)) != matches!(end, Moment::Day(_)) {
        let expected = "a date where the start is one, and a time where it is not";
        return Err(CalendarError::validation("/end", "as_start", expected));
    }
    let far = || CalendarError::validation("/start", "time", "a time of the calendar");
    let (start, end) = (start.local(&zone).ok_or_else(far)?, end.local(&zone).ok_or_else(far)?);
    if end <= start || millis(end.duration_since(start)) > LONGEST_BLOCK {
        let expected = "a time after the start, and at most 366 days later";
        return Err(CalendarError::validation("/end", "after_start", expected));
    }
    let once = Series::once(zone, start, end);
    let Some(text) = &input.rrule else { return Ok(once) };
    let rule = Rule::parse(text).and_then(Rule::strict).map_err(CalendarError::in_rule)?;
    let series =
        once.recurring(rule, &mut { MOST_RULE_STEPS }).map_err(|problem| match problem {
            NoSeries::EndsBefore => {
                CalendarError::validation("/rrule", "until_after_start", "an UNTIL after the start")
            }
            NoSeries::TooLong => {
                CalendarError::validation("/rrule", "count", "a COUNT that the rule reaches")
            }
        })?;
    if !series.is_in_step() {
        let expected = "a day on which the rule falls";
        return Err(CalendarError::validation("/start", "in_rrule", expected));
    }
    Ok(series)
}

pub(crate) fn remove(call: &Call, input: BlockInput) -> Result<Removed> {
    let owner_id = call.require_owner()?;
    let stored = BLOCKS.get(&input.block_id)?.filter(|block| block.value.owner_id == owner_id);
    let stored = stored.ok_or(CalendarError::BlockNotFound)?;
    ensure_version(input.expected_version, stored.revision, || view(&stored), list())?;
    if let Some(subscription_id) = stored.value.subscription_id {
        return Err(CalendarError::BlockIsSubscribed { subscription_id });
    }
    let change = Change::of(owner_id)?;
    BLOCKS.delete(&stored.id, Expect::Revision(stored.revision))?;
    change.save(0, 1)?;
    Ok(Removed { block_id: stored.id })
}

/// Returns all blocks of a person.
pub(crate) fn all(owner_id: &str) -> Result<Vec<Stored<Block>>> {
    let query = Query::new().filter(field("owner_id").eq(owner_id)).limit(MOST_BLOCKS);
    BLOCKS.all(query).map(|hit| Ok(hit?.document)).collect()
}

/// Returns the most occurrences that the rules of these blocks have on one day.
pub(crate) fn a_day<'a>(blocks: impl IntoIterator<Item = &'a Stored<Block>>) -> u32 {
    blocks.into_iter().fold(0, |sum, block| sum.saturating_add(block.value.most_a_day()))
}

/// Ensures that a person's rules stay within their limit of occurrences a day.
pub(crate) fn ensure_few_a_day(a_day: u32) -> Result<()> {
    match a_day <= MOST_A_DAY_OF_PERSON {
        true => Ok(()),
        false => Err(CalendarError::DailyLimitReached),
    }
}

fn view(stored: &Stored<Block>) -> BlockView {
    let block = &stored.value;
    // The times of a block of whole days are shown as dates.
    let shown = |text: &str| match (block.all_day, text.split_once('T')) {
        (true, Some((date, _))) => date.to_owned(),
        _ => text.to_owned(),
    };
    view!(block => BlockView {
        source, time_zone, rrule, label;
        block_id: stored.id.clone(),
        version: stored.revision,
        start: shown(&block.start),
        end: shown(&block.end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(start: &str, end: &str, rrule: Option<&str>) -> Result<(String, i64), String> {
        let input = AddBlock {
            start: start.into(),
            end: end.into(),
            time_zone: None,
            rrule: rrule.map(str::to_owned),
            label: None,
            owner_id: ME.into(),
        };
        let series = series(&input, Zone::named("America/Los_Angeles").unwrap());
        series.map(|series| (series.start.to_string(), series.length.as_mins())).map_err(|error| {
            let refusal = Refusal::from(error);
            assert_eq!(refusal.code, "validation_failed");
            refusal.conflict.unwrap()["errors"][0]["pointer"].as_str().unwrap().to_owned()
        })
    }

    #[test]
    fn times_are_dates_local_times_or_instants() {
        let expected = Ok(("2026-11-02T09:00:00".into(), 60));
        assert_eq!(added("2026-11-02T09:00", "2026-11-02T10:00", None), expected);
        assert_eq!(added("2026-11-02T17:00:00.5Z", "2026-11-02T10:00:00-08:00", None), expected);
        let days = Ok(("2026-11-01T00:00:00".into(), 2 * 1440));
        assert_eq!(added("2026-11-01", "2026-11-03", None), days);
    }

    #[test]
    fn faults_have_their_pointer() {
        for (start, end, rrule, pointer) in [
            ("2026-11-31", "2026-12-02", None, "/start"),
            ("2026-11-30T25:00", "2026-12-02T10:00", None, "/start"),
            ("2026-11-30T10:00", "2026-12-02", None, "/end"),
            ("2026-11-30", "2026-11-30", None, "/end"),
            ("2026-11-30", "2027-12-30", None, "/end"),
            ("2026-11-30", "2026-12-01", Some("FREQ=HOURLY"), "/rrule"),
            ("2026-11-30", "2026-12-01", Some("FREQ=DAILY;BYHOUR=9,10"), "/rrule"),
            (
                "2026-11-30",
                "2026-12-01",
                Some("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=2"),
                "/rrule",
            ),
            ("2026-11-30", "2026-12-01", Some("FREQ=MONTHLY;BYMONTHDAY=15"), "/start"),
            ("2026-11-30", "2026-12-01", Some("FREQ=DAILY;UNTIL=20261129"), "/rrule"),
            ("2026-11-30", "2026-12-01", Some("FREQ=WEEKLY;BYDAY=TU"), "/start"),
        ] {
            assert_eq!(added(start, end, rrule), Err(pointer.into()), "{start} {end} {rrule:?}");
        }
    }
}
