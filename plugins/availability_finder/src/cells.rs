//! The time of people in cells of a quarter of an hour, as `calendar` and the holds have it.

use crate::{documents::*, limits::*, refusals::*};
use people_kit::calendar::{self, CellsQuery};
use portolan_sdk::{prelude::*, time::parse};

/// The cells from an instant on, one row for each person.
pub(crate) struct Board {
    pub(crate) from: u64,
    /// Whether the person cannot be booked in the cell.
    pub(crate) closed: Vec<Vec<bool>>,
}

impl Board {
    /// Reads the cells of these people, in their order. `from` and `to` are multiples of a cell; `own_hold` is
    /// a hold that does not count.
    pub(crate) fn read(
        call: &Call,
        people: &[String],
        from: u64,
        to: u64,
        own_hold: Option<&str>,
    ) -> Result<Self> {
        let count = to.saturating_sub(from) / CELL;
        let query = CellsQuery {
            owner_ids: people.to_vec(),
            from: rfc3339(from),
            cells: u32::try_from(count).unwrap_or(u32::MAX),
        };
        let count = usize::try_from(count).unwrap_or(0);
        let found = calendar::cells(&query)?;
        let row = |owner_id: &String| {
            let cells = found.iter().find(|person| person.owner_id == *owner_id);
            // Without an answer, a person cannot be booked.
            cells.map_or_else(
                || vec![true; count],
                |person| person.cells.chars().map(|cell| cell != '.').collect(),
            )
        };
        let mut board = Self { from, closed: people.iter().map(row).collect() };
        board.close_holds(call, people, to, own_hold)?;
        Ok(board)
    }

    /// Closes the cells that are held for these people.
    fn close_holds(
        &mut self,
        call: &Call,
        people: &[String],
        to: u64,
        own_hold: Option<&str>,
    ) -> Result<()> {
        let theirs = field("owner_ids[]").one_of(people).and(field("ends").gt(self.from));
        for hit in HOLDS.all(Query::new().filter(theirs).limit(PAGE)) {
            let hold = hit?.document;
            let counts = hold.value.until > call.now() && hold.value.begins < to;
            if !counts || own_hold == Some(hold.id.as_str()) {
                continue;
            }
            for (owner_id, row) in people.iter().zip(&mut self.closed) {
                if hold.value.owner_ids.contains(owner_id) {
                    close(row, self.from, hold.value.begins, hold.value.ends);
                }
            }
        }
        Ok(())
    }

    /// Returns the instant at which a cell begins.
    pub(crate) fn at(&self, cell: usize) -> u64 {
        self.from + u64::try_from(cell).unwrap_or(0) * CELL
    }
}

/// The number of holds that one query reads.
const PAGE: u32 = 1_000;

/// Closes the cells of a row, which begins at `from`, that overlap a span.
fn close(row: &mut [bool], from: u64, begins: u64, ends: u64) {
    for (start, cell) in (0..).map(|number: u64| from + number * CELL).zip(row) {
        *cell |= start < ends && begins < start + CELL;
    }
}

/// Returns the next full quarter of an hour, or this one.
pub(crate) fn up(at: u64) -> u64 {
    at.div_ceil(CELL) * CELL
}

pub(crate) fn down(at: u64) -> u64 {
    at / CELL * CELL
}

pub(crate) fn millis(minutes: u32) -> u64 {
    u64::from(minutes) * MINUTE
}

/// Returns the number of cells of minutes that are a multiple of 15.
pub(crate) fn cells_in(pointer: &str, minutes: u32) -> Result<usize> {
    let cells = millis(minutes) / CELL;
    match millis(minutes) == cells * CELL {
        true => Ok(usize::try_from(cells).unwrap_or(usize::MAX)),
        false => Err(FinderError::invalid(pointer, "multipleOf", "a multiple of 15 minutes")),
    }
}

pub(crate) fn instant(pointer: &str, text: &str) -> Result<u64> {
    let expected = "an instant of RFC 3339, not before 1970";
    parse(text).ok_or_else(|| FinderError::invalid(pointer, "date-time", expected))
}

/// Returns a start on the grid that is to come, and at most 90 days away.
pub(crate) fn start(call: &Call, pointer: &str, text: &str) -> Result<u64> {
    let start = instant(pointer, text)?;
    let (rule, expected) = if !start.is_multiple_of(CELL) {
        ("multiple_of", "a multiple of 15 minutes")
    } else if start < up(call.now()) {
        ("in_future", "a time that has not begun")
    } else if start > call.now() + HORIZON {
        ("horizon", "a time within 90 days")
    } else {
        return Ok(start);
    };
    Err(FinderError::invalid(pointer, rule, expected))
}

/// Returns the window of a question on the grid: not before the notice, and at most 14 days long.
pub(crate) fn window(
    call: &Call,
    from: Option<&str>,
    to: Option<&str>,
    min_notice_min: u32,
) -> Result<(u64, u64)> {
    let from = from.map(|from| instant("/from", from)).transpose()?.unwrap_or(call.now());
    let to = to.map(|to| instant("/to", to)).transpose()?.unwrap_or(from.saturating_add(7 * DAY));
    if to <= from || to - from > LONGEST_WINDOW {
        return Err(FinderError::invalid("/to", "window", "a time at most 14 days after `from`"));
    }
    if to > call.now() + HORIZON {
        return Err(FinderError::invalid("/to", "horizon", "a time within 90 days"));
    }
    let from = up(from.max(call.now() + millis(min_notice_min)));
    Ok((from, down(to).max(from)))
}
