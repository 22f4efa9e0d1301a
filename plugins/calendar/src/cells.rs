//! The time of people in cells: quarters of an hour, in which others can book a person or not.

use crate::{
    busy::{self, closed, millis},
    documents::*,
    limits::STEP,
    refusals::*,
    reserve::distinct,
    spans::*,
};
use people_kit::calendar::{Cells, CellsQuery, PersonCells};
use portolan_sdk::prelude::*;

/// Returns the cells of each person. Nothing finer than a cell can be inferred from them: a cell is closed if
/// any instant of it is, and the current time counts from the next full quarter.
pub(crate) fn cells(call: &Call, input: CellsQuery) -> Result<Cells> {
    let from = millis("/from", &input.from)?;
    if from % STEP != 0 {
        return Err(CalendarError::validation("/from", "multiple_of", "a multiple of 15 minutes"));
    }
    let range = Span::new(from, from + i64::from(input.cells) * STEP);
    let now = busy::now(call);
    let now = now + (-now).rem_euclid(STEP);
    let mut zones = Zones::default();
    let people = distinct(input.owner_ids).into_iter().map(|owner_id| {
        let closed = closed(now, &mut zones, &owner_id, range, None)?;
        Ok(PersonCells { owner_id, cells: drawn(range, &closed) })
    });
    Ok(Cells { people: people.collect::<Result<_>>()? })
}

/// Returns one character for each cell of the range: `x` if one of these merged spans overlaps it, else `.`.
fn drawn(range: Span, closed: &[Span]) -> String {
    let mut cells = String::new();
    let mut start = range.start;
    while start < range.end {
        let cell = Span::new(start, start + STEP);
        cells.push(if overlaps_any(closed, cell) { 'x' } else { '.' });
        start = cell.end;
    }
    cells
}
