//! Holds: times that are kept for a group for some minutes.

use crate::{
    asking, cells::*, documents::*, find, groups, held, limits::*, refusals, refusals::*, types::*,
    views::*,
};
use people_kit::calendar::{self, Firmness, Reserve, Slot};
use portolan_sdk::prelude::*;

/// Holds a time for all people of a group, or refuses. Nobody else finds it until the hold ends.
pub(crate) fn hold(call: &Call, input: &HoldTime) -> Result<Answer<HoldView>> {
    let mut group = groups::load_for_action(call, &input.group_id, "hold")?;
    if !group.value.may_book {
        return Err(FinderError::BookingNotAgreed { group_id: group.id });
    }
    cells_in("/duration_min", input.duration_min)?;
    let begins = start(call, "/start", &input.start)?;
    let ends = begins + millis(input.duration_min);
    let people = asking::agreed(&group.value)?;
    asking::ensure_enough(&group, &people)?;
    if held::of_group(call, &group.id)?.len() >= MOST_HOLDS {
        let limit = u64::try_from(MOST_HOLDS).unwrap_or(u64::MAX);
        return Err(FinderError::OpenLimitReached { name: "holds_of_a_group", limit });
    }
    // The minutes are compared before any calendar is read: a refusal because of them tells nothing of a calendar.
    let minutes = held::count(call, &group, &people, input.hold_min)?;
    let next = get(&group.id);
    asking::count(call, &mut group, &people, None, next)?;
    let board = Board::read(call, &people, begins, ends, None)?;
    if !find::free(&board).into_iter().all(|free| free) {
        return Err(FinderError::taken(begins, refusals::find(&group.id, input.duration_min)));
    }
    for mut held in minutes {
        HELD.save(&mut held)?;
    }
    let hold = Hold {
        group_id: group.id.clone(),
        organizer: group.value.organizer.clone(),
        owner_ids: people.clone(),
        begins,
        ends,
        until: call.now() + millis(input.hold_min),
    };
    let hold = HOLDS.add(call.new_id("hold"), hold, call.now())?;
    // The reservation writes the calendar of each person, so of two concurrent holds of a person one runs
    // again, and sees the other.
    calendar::reserve(&Reserve {
        reference: hold.id.clone(),
        owner_ids: people,
        slot: Slot::of(begins, ends),
        kind: Firmness::Tentative,
        title: Some(group.value.title.clone()),
        title_by: Some(group.value.organizer.clone()),
        within_availability: false,
    })?;
    let ended = HoldInput { hold_id: hold.id.as_str().into() };
    timers::set(&held::timer(&hold.id), hold.value.until, "expire_hold", &ended)?;
    let next = Next::action(CAPABILITY, "book").field("group_id", group.id.as_str());
    let next = next.field("start", rfc3339(begins)).field("duration_min", input.duration_min);
    Ok(Answer::new(crate::views::hold(&hold)).next(next.field("hold_id", hold.id.as_str())))
}

/// Ends a hold of the calling person.
pub(crate) fn release(call: &Call, hold_id: &str) -> Result<Released> {
    let me = call.require_owner()?;
    let hold = HOLDS.get(hold_id)?.filter(|hold| hold.value.organizer == me);
    let hold = hold.filter(|hold| hold.value.until > call.now());
    let hold = hold.ok_or(FinderError::HoldNotFound)?;
    held::end(&hold.id)?;
    Ok(Released { hold_id: hold.id })
}
