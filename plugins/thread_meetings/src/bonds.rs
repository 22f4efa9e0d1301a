//! Who has an open meeting with whom: stated in `social_permissions` from the first that two people
//! have to the last, and counted for each conversation.

use crate::{kept::*, refusals::*, types::*};
use people_kit::relations::{Tuple, relate};
use portolan_sdk::prelude::*;

/// Statements in one call.
const MANY: usize = 100;

pub(crate) fn open(stored: &Stored<Meeting>) -> Result<()> {
    let (meeting_id, meeting) = (stored.id.as_str(), &stored.value);
    if enter(THREADS, &meeting.thread_id, meeting_id)? > MOST_OPEN {
        return Err(MeetingError::MeetingLimitReached { thread_id: meeting.thread_id.clone() });
    }
    let mut begun = Vec::new();
    for (one, other) in pairs(meeting) {
        if enter(PAIRS, &format!("{one}/{other}"), meeting_id)? == 1 {
            begun.extend(tuples(one, other));
        }
    }
    Ok(begun.chunks(MANY).try_for_each(|chunk| relate(chunk.to_vec(), Vec::new()))?)
}

pub(crate) fn close(meeting: &Stored<Meeting>) -> Result<()> {
    leave(THREADS, &meeting.value.thread_id, &meeting.id)?;
    let mut ended = Vec::new();
    for (one, other) in pairs(&meeting.value) {
        if leave(PAIRS, &format!("{one}/{other}"), &meeting.id)? {
            ended.extend(tuples(one, other));
        }
    }
    Ok(ended.chunks(MANY).try_for_each(|chunk| relate(Vec::new(), chunk.to_vec()))?)
}

/// Every two of them, always in the same order.
fn pairs(meeting: &Meeting) -> Vec<(&str, &str)> {
    let mut owner_ids: Vec<_> = meeting.owner_ids().collect();
    owner_ids.sort_unstable();
    let others = |at: usize| owner_ids.iter().skip(at + 1);
    owner_ids
        .iter()
        .enumerate()
        .flat_map(|(at, one)| others(at).map(move |other| (*one, *other)))
        .collect()
}

fn tuples(one: &str, other: &str) -> [Tuple; 2] {
    let has = |whose: &str, who: &str| {
        Tuple::new(format!("owner:{whose}"), "open_meeting", format!("owner:{who}"))
    };
    [has(one, other), has(other, one)]
}

/// Answers how many there are now.
fn enter(books: Collection<Book>, id: &str, meeting_id: &str) -> Result<usize> {
    let mut book = books.get_or_default(id)?;
    book.value.open.insert(meeting_id.to_owned());
    books.save(&mut book)?;
    Ok(book.value.open.len())
}

/// Answers whether it was the last.
fn leave(books: Collection<Book>, id: &str, meeting_id: &str) -> Result<bool> {
    let Some(mut book) = books.get(id)? else { return Ok(false) };
    if !book.value.open.remove(meeting_id) {
        return Ok(false);
    }
    match book.value.open.is_empty() {
        true => books.delete(id, Expect::Revision(book.revision))?,
        false => books.save(&mut book)?,
    }
    Ok(book.value.open.is_empty())
}
