//! A person's view of their own calendar.

use crate::{
    busy::{self, range},
    documents::*,
    limits::{MOST_EVENTS, USUAL_RANGE},
    refusals::*,
    spans::*,
    types::{Event, EventKind, ListEvents, Source},
};
use people_kit::{UNTRUSTED, calendar::Firmness};
use portolan_sdk::{
    pages::{close_cursor, open_cursor},
    prelude::*,
};

/// Returns a page of the events in a range, in the order of their sort keys.
pub(crate) fn list(call: &Call, owner_id: &str, input: ListEvents) -> Result<Items<Event>> {
    let asked = format!("events {owner_id} {:?} {:?}", input.start, input.end);
    let start = input.start.unwrap_or_else(|| busy::text(busy::now(call)));
    let end = match input.end {
        Some(end) => end,
        None => busy::text(busy::millis("/start", &start)? + USUAL_RANGE),
    };
    let range = range(&start, &end)?;
    let mut found = Vec::new();
    add_blocks(owner_id, range, &mut found)?;
    add_meetings(owner_id, range, &mut found)?;
    found.sort_by(|one, other| one.0.cmp(&other.0));
    paged(found, &input.page, &asked)
}

/// Returns the sort key of an event: start, kind and id, which together are unique. The order of
/// the texts is the order of the events.
fn place(start: i64, kind: EventKind, id: &str) -> String {
    format!("{:015} {} {id}", start.max(0), kind as u8)
}

fn add_blocks(owner_id: &str, range: Span, found: &mut Vec<(String, Event)>) -> Result<()> {
    let mut zones = Zones::default();
    for stored in blocks(owner_id, range)? {
        let Some(series) = stored.value.series(&mut zones) else { continue };
        let block = &stored.value;
        series.each(range, |one| {
            let event = view!(block => Event {
                all_day, tentative, rrule;
                kind: EventKind::Block,
                id: stored.id.clone(),
                block_id: Some(stored.id.clone()),
                start: busy::text(one.start),
                end: busy::text(one.end),
                title: block.label.clone(),
                // The text of a file was not written by the person here, so it is untrusted.
                trust: (block.source != Source::Added).then_some(UNTRUSTED),
                source: Some(block.source),
                version: Some(stored.revision),
                time_zone: Some(block.time_zone.clone()),
            });
            found.push((place(one.start, event.kind, &stored.id), event));
        });
        if found.len() > MOST_EVENTS {
            return Err(CalendarError::RangeTooLarge);
        }
    }
    Ok(())
}

fn add_meetings(owner_id: &str, range: Span, found: &mut Vec<(String, Event)>) -> Result<()> {
    for stored in reservations(owner_id, range)? {
        let reservation = stored.value;
        let kind = match reservation.kind {
            Firmness::Firm => EventKind::Meeting,
            Firmness::Tentative => EventKind::Hold,
        };
        let event = Event {
            kind,
            id: stored.id.clone(),
            block_id: None,
            start: busy::text(reservation.begins),
            end: busy::text(reservation.ends),
            all_day: false,
            tentative: reservation.kind == Firmness::Tentative,
            trust: reservation.title.is_some().then_some(UNTRUSTED),
            title: reservation.title,
            source: None,
            version: None,
            time_zone: None,
            rrule: None,
        };
        found.push((place(reservation.begins, kind, &stored.id), event));
    }
    Ok(())
}

/// Returns one page. Its cursor is the last sort key, signed for this query.
fn paged(found: Vec<(String, Event)>, page: &PageInput, asked: &str) -> Result<Items<Event>> {
    let after = page.cursor.as_deref().map(|cursor| open_cursor(cursor, asked)).transpose()?;
    let skipped = after.map_or(0, |after| found.partition_point(|(place, _)| *place <= after));
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let is_last = found.len() - skipped <= limit;
    let (places, items): (Vec<_>, Vec<_>) = found.into_iter().skip(skipped).take(limit).unzip();
    let last = places.last().filter(|_| !is_last);
    Ok(Items { items, next_cursor: last.map(|last| close_cursor(last, asked)).transpose()? })
}
