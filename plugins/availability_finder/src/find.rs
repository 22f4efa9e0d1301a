//! `find`: the times that suit the people of a group.

use crate::{
    asking,
    cells::{self, Board, cells_in, millis},
    groups,
    limits::*,
    refusals::*,
    search::{Fit, Sought, Who, best},
    types::*,
    views::*,
};
use portolan_sdk::prelude::*;

pub(crate) fn find(call: &Call, input: Find) -> Result<Answer<Found>> {
    let mut group = groups::load_for_action(call, &input.group_id, "find")?;
    let sought = Sought {
        length: cells_in("/duration_min", input.duration_min)?,
        before: cells_in("/buffer_before_min", input.buffer_before_min)?,
        after: cells_in("/buffer_after_min", input.buffer_after_min)?,
        who: Who::AllBut(usize::try_from(input.allow_missing).unwrap_or(0)),
        most: usize::try_from(input.limit).unwrap_or(1),
    };
    let (from, to) =
        cells::window(call, input.from.as_deref(), input.to.as_deref(), input.min_notice_min)?;
    let people = asking::agreed(&group.value)?;
    asking::ensure_enough(&group, &people)?;
    if input.allow_missing > 0 && people.len() < LEAST_FOR_COUNTS {
        return Err(asking::too_few(&group, LEAST_FOR_COUNTS));
    }
    let next = get(&group.id);
    asking::count(call, &mut group, &people, None, next)?;
    let (before, after) = (millis(input.buffer_before_min), millis(input.buffer_after_min));
    let items = match to > from {
        true => {
            let board = Board::read(call, &people, from.saturating_sub(before), to + after, None)?;
            times(&board, &sought, |_| true)
        }
        false => Vec::new(),
    };
    let asked = QUESTIONS_OF_GROUP.most.saturating_sub(group.value.questions.len());
    let first = items.first().filter(|_| group.value.may_book).map(|time| time.start.clone());
    let found = Found {
        people: u32::try_from(people.len()).unwrap_or(u32::MAX),
        questions_left: u32::try_from(asked).unwrap_or(u32::MAX),
        items,
    };
    let next = first.map(|start| {
        let next = Next::action(CAPABILITY, "hold").field("group_id", group.id.as_str());
        next.field("start", start).field("duration_min", input.duration_min)
    });
    Ok(Answer::with(found, next))
}

/// Returns the best times on the board whose starts are admitted.
pub(crate) fn times(
    board: &Board,
    sought: &Sought,
    is_admitted: impl Fn(u64) -> bool,
) -> Vec<Time> {
    let length = u64::try_from(sought.length).unwrap_or(0) * CELL;
    let fits = best(&board.closed, sought, |cell| is_admitted(board.at(cell))).into_iter();
    let time = |fit: Fit| {
        let start = board.at(fit.cell);
        let cannot = u32::try_from(fit.cannot).unwrap_or(u32::MAX);
        Time { start: rfc3339(start), end: rfc3339(start + length), cannot }
    };
    fits.map(time).collect()
}

/// Returns whether each row of the board is open in all of its cells.
pub(crate) fn free(board: &Board) -> Vec<bool> {
    board.closed.iter().map(|row| row.iter().all(|closed| !closed)).collect()
}
