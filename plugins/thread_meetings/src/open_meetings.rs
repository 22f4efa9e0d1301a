//! The relation `open_meeting` in `social_permissions`, which two people have while they have at
//! least one open meeting, and the number of open meetings of each conversation.

use crate::{documents::*, refusals::*, types::*};
use people_kit::relations::{Tuple, relate};
use portolan_sdk::prelude::*;

/// The maximum number of tuples in one call.
const CHUNK: usize = 100;

pub(crate) fn open(stored: &Stored<Meeting>) -> Result<()> {
    let (meeting_id, meeting) = (stored.id.as_str(), &stored.value);
    if THREADS.enter(&meeting.thread_id, meeting_id)? > MOST_OPEN {
        return Err(MeetingError::MeetingLimitReached { thread_id: meeting.thread_id.clone() });
    }
    let mut added = Vec::new();
    for (one, other) in pairs(meeting) {
        if PAIRS.enter(&format!("{one}/{other}"), meeting_id)? == 1 {
            added.extend(tuples(one, other));
        }
    }
    Ok(added.chunks(CHUNK).try_for_each(|chunk| relate(chunk.to_vec(), Vec::new()))?)
}

pub(crate) fn close(meeting: &Stored<Meeting>) -> Result<()> {
    THREADS.leave(&meeting.value.thread_id, &meeting.id)?;
    let mut removed = Vec::new();
    for (one, other) in pairs(&meeting.value) {
        if PAIRS.leave(&format!("{one}/{other}"), &meeting.id)? {
            removed.extend(tuples(one, other));
        }
    }
    Ok(removed.chunks(CHUNK).try_for_each(|chunk| relate(Vec::new(), chunk.to_vec()))?)
}

/// Returns all pairs of participants, always in the same order.
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
    let relation = |whose: &str, who: &str| {
        Tuple::new(format!("owner:{whose}"), "open_meeting", format!("owner:{who}"))
    };
    [relation(one, other), relation(other, one)]
}
