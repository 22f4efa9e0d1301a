//! Reads stored documents into values.

use crate::{limits::MOST_BLOCKS, refusals::*, rule::*, series::*, spans::*, types::*, zones::*};
use portolan_sdk::prelude::*;

/// The zones that a call has read so far.
#[derive(Debug, Default)]
pub(crate) struct Zones(Vec<Zone>);

impl Zones {
    pub(crate) fn named(&mut self, name: &str) -> Option<Zone> {
        if let Some(known) = self.0.iter().find(|zone| zone.name() == name) {
            return Some(known.clone());
        }
        let zone = Zone::named(name)?;
        self.0.push(zone.clone());
        Some(zone)
    }
}

impl Block {
    /// Returns the series; `None` if a newer version of this capability wrote something that this
    /// version does not know.
    pub(crate) fn series(&self, zones: &mut Zones) -> Option<Series> {
        // If the zone no longer exists, UTC is better than no block at all.
        let zone = zones.named(&self.time_zone).unwrap_or_else(Zone::utc);
        let rule = match &self.rrule {
            Some(text) => Some(Rule::parse(text).ok()?),
            None => None,
        };
        let (start, end) = (self.start.parse().ok()?, self.end.parse().ok()?);
        let mut series = Series::new(zone, start, end, rule)?;
        series.except = self.except.iter().filter_map(|time| time.parse().ok()).collect();
        Some(series)
    }
}

/// The documents of a page. These documents are large.
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
    let filter = field(owner)
        .eq(owner_id)
        .and(field("ends").gt(range.start))
        .and(field("begins").lt(range.end));
    let hits = collection.all(Query::new().filter(filter).limit(PAGE));
    hits.map(|hit| Ok(hit?.document)).collect()
}

pub(crate) fn hours(owner_id: &str) -> Result<Option<Stored<Hours>>> {
    Ok(AVAILABILITIES.get(owner_id)?)
}

/// Returns the person's own time zone, if it is known.
pub(crate) fn home(owner_id: &str) -> Result<Zone> {
    let hours = hours(owner_id)?;
    let zone = hours.and_then(|hours| Zone::named(&hours.value.time_zone));
    Ok(zone.unwrap_or_else(Zone::utc))
}

/// A person's calendar that is being changed.
pub(crate) struct Change(Stored<Calendar>);

impl Change {
    /// Reads the calendar, so that a concurrent change of it makes this call run again.
    pub(crate) fn of(owner_id: &str) -> Result<Self> {
        Ok(Self(CALENDARS.get_or_default(owner_id)?))
    }

    /// Writes the calendar with the new number of blocks, whatever has changed.
    pub(crate) fn done(mut self, more: u32, less: u32) -> Result<()> {
        let calendar = &mut self.0.value;
        calendar.blocks = calendar.blocks.saturating_add(more).saturating_sub(less);
        if more > less && calendar.blocks > MOST_BLOCKS {
            return Err(CalendarError::BlockLimitReached);
        }
        calendar.changes += 1;
        Ok(CALENDARS.save(&mut self.0)?)
    }
}
