//! Reads stored documents into values.

use crate::{
    limits::{MOST_BLOCKS, MOST_RULE_STEPS, SUBSCRIBES},
    refusals::*,
    rule::*,
    series::*,
    spans::*,
    types::*,
    zones::*,
};
use jiff::civil::DateTime;
use portolan_sdk::prelude::*;

/// The zones that a call has read so far.
#[derive(Debug, Default)]
pub(crate) struct Zones(Vec<Zone>);

impl Zones {
    pub(crate) fn named(&mut self, name: &str) -> Option<Zone> {
        if let Some(known) = self.0.iter().find(|zone| zone.name() == name) {
            return Some(known.clone());
        }
        let zone = stored(name)?;
        self.0.push(zone.clone());
        Some(zone)
    }
}

impl Block {
    /// Makes the block of a series, without a label.
    pub(crate) fn of(owner_id: &str, source: Source, series: &Series, all_day: bool) -> Self {
        let bounds = series.bounds();
        Self {
            owner_id: owner_id.to_owned(),
            source,
            subscription_id: None,
            uid: None,
            recurrence_id: None,
            start: series.start.to_string(),
            end: series.end().to_string(),
            all_day,
            time_zone: series.zone.name().to_owned(),
            rrule: series.rule.as_ref().map(Rule::to_string),
            last: series.last.filter(|_| series.is_counted()).map(|last| last.to_string()),
            except: series.except.iter().map(ToString::to_string).collect(),
            also: series.also.iter().map(|(start, end)| format!("{start}/{end}")).collect(),
            tentative: false,
            label: None,
            begins: bounds.start,
            ends: bounds.end,
        }
    }

    /// Returns the most occurrences that its rule has on one day; 0 without a rule.
    pub(crate) fn most_a_day(&self) -> u32 {
        let rule = self.rrule.as_deref().and_then(|rule| Rule::parse(rule).ok());
        rule.map_or(0, |rule| rule.most_a_day())
    }

    /// Returns the series; `None` if it cannot be parsed, for example because a newer version of
    /// this capability wrote it.
    pub(crate) fn series(&self, zones: &mut Zones) -> Option<Series> {
        // If the zone no longer exists, UTC is better than no block at all.
        let zone = zones.named(&self.time_zone).unwrap_or_else(Zone::utc);
        let rule = self.rrule.as_deref().map(Rule::parse).transpose().ok()?;
        let once = Series::once(zone, self.start.parse().ok()?, self.end.parse().ok()?);
        let last = self.last.as_deref().and_then(|last| last.parse().ok());
        let mut series = match (rule, last) {
            (None, _) => once,
            // The last occurrence was counted when the block was stored.
            (Some(rule), Some(last)) => Series { rule: Some(rule), last: Some(last), ..once },
            (Some(rule), None) => once.recurring(rule, &mut { MOST_RULE_STEPS }).ok()?,
        };
        series.except = self.except.iter().filter_map(|time| time.parse().ok()).collect();
        series.also = self.also.iter().filter_map(|times| period(times)).collect();
        Some(series)
    }
}

fn period(times: &str) -> Option<(DateTime, DateTime)> {
    let (start, end) = times.split_once('/')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

/// The maximum number of documents that one query reads.
const PAGE: u32 = 1_000;

/// Returns the person's blocks that can overlap this range.
pub(crate) fn blocks(owner_id: &str, range: Span) -> Result<Vec<Stored<Block>>> {
    within(BLOCKS, "owner_id", owner_id, range)
}

/// Returns the person's reservations that overlap this range.
pub(crate) fn reservations(owner_id: &str, range: Span) -> Result<Vec<Stored<Reservation>>> {
    within(RESERVATIONS, "owner_ids[]", owner_id, range)
}

fn within<T: serde::de::DeserializeOwned>(
    collection: Collection<T>,
    owner: &str,
    owner_id: &str,
    range: Span,
) -> Result<Vec<Stored<T>>> {
    let (ends, begins) = (field("ends").gt(range.start), field("begins").lt(range.end));
    let filter = field(owner).eq(owner_id).and(ends).and(begins);
    let hits = collection.all(Query::new().filter(filter).limit(PAGE));
    hits.map(|hit| Ok(hit?.document)).collect()
}

pub(crate) fn hours(owner_id: &str) -> Result<Option<Stored<Hours>>> {
    Ok(AVAILABILITIES.get(owner_id)?)
}

/// Returns the time zone of the person's availability, if it is set.
pub(crate) fn home(owner_id: &str) -> Result<Option<Zone>> {
    Ok(hours(owner_id)?.map(|hours| hours.value.zone()))
}

/// A person's calendar that is being changed.
pub(crate) struct Change(Stored<Calendar>);

impl Change {
    /// Reads the calendar, so that a concurrent change of it makes this call run again.
    pub(crate) fn of(owner_id: &str) -> Result<Self> {
        Ok(Self(CALENDARS.get_or_default(owner_id)?))
    }

    /// Counts one more subscription of the person, or refuses with `quota_exceeded`.
    pub(crate) fn count_subscription(&mut self, now: u64) -> Result<()> {
        let (name, message) = ("subscriptions_a_day", "The person has subscribed too often today.");
        let times = &mut self.0.value.subscribed;
        Ok(SUBSCRIBES.count(times, now, name, message, list_subscriptions())?)
    }

    /// Writes the calendar with the new number of blocks, even if that is the same, so that
    /// concurrent changes conflict. Refuses more than `MOST_BLOCKS` blocks, unless there are no
    /// more than before.
    pub(crate) fn save(mut self, more: u32, less: u32) -> Result<()> {
        let calendar = &mut self.0.value;
        calendar.blocks = calendar.blocks.saturating_add(more).saturating_sub(less);
        if more > less && calendar.blocks > MOST_BLOCKS {
            return Err(CalendarError::BlockLimitReached { blocks: calendar.blocks });
        }
        calendar.changes += 1;
        Ok(CALENDARS.save(&mut self.0)?)
    }
}
