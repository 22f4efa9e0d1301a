//! Bookings: times that are reserved in the calendars of those who take part.

use crate::{
    asking, cells::*, documents::*, find, groups, held, limits::*, notices, refusals, refusals::*,
    states::*, types::*, views::*,
};
use people_kit::calendar::{self, Firmness, Reserve, Slot};
use portolan_sdk::prelude::*;

/// Books the people of a group at a time, or refuses.
pub(crate) fn book(call: &Call, input: &Book) -> Result<Answer<BookingView>> {
    let me = call.require_owner()?;
    let mut group = groups::load_for_action(call, &input.group_id, "book")?;
    if !group.value.may_book {
        return Err(FinderError::BookingNotAgreed { group_id: group.id });
    }
    cells_in("/duration_min", input.duration_min)?;
    let begins = start(call, "/start", &input.start)?;
    let ends = begins + millis(input.duration_min);
    let hold_id = input.hold_id.as_deref();
    if let Some(hold_id) = hold_id {
        let held = held::of_group(call, &group.id)?;
        if !held.iter().any(|hold| hold.id == hold_id) {
            return Err(FinderError::HoldNotFound);
        }
    }
    let people = asking::agreed(&group.value)?;
    asking::ensure_enough(&group, &people)?;
    if input.mode == Mode::RoundRobin && people.len() < LEAST_OF_MANY {
        return Err(asking::too_few(&group, LEAST_OF_MANY));
    }
    let next = get(&group.id);
    asking::count(call, &mut group, &people, None, next)?;
    let free = find::free(&Board::read(call, &people, begins, ends, hold_id)?);
    let free = people.iter().zip(free).filter(|(_, free)| *free).map(|(owner_id, _)| owner_id);
    let free: Vec<String> = free.cloned().collect();
    let taken = || FinderError::taken(begins, refusals::find(&group.id, input.duration_min));
    let (attendees, host) = match input.mode {
        Mode::Collective if free.len() == people.len() => (people, None),
        Mode::RoundRobin if free.first().is_some_and(|first| first == me) => {
            let others = free.into_iter().filter(|owner_id| owner_id != me);
            let host = next_in_turn(call, &group.value.turns, others).ok_or_else(taken)?;
            (vec![me.to_owned(), host.clone()], Some(host))
        }
        _ => return Err(taken()),
    };
    let booking = Booking {
        by: me.to_owned(),
        attendees,
        title: group.value.title.clone(),
        title_by: group.value.organizer.clone(),
        begins,
        ends,
        group_id: Some(group.id.clone()),
        link_id: None,
        host,
        state: BookingState::Confirmed,
        created_at: call.now(),
        changed_at: call.now(),
    };
    let booking = reserve(call, booking, taken())?;
    if let Some(hold_id) = hold_id {
        held::end(hold_id)?;
    }
    if let Some(host) = &booking.value.host {
        take_turn(&mut group.value.turns, host);
        groups::save(call, &mut group)?;
    }
    Ok(Answer::new(crate::views::booking(call, &booking)).next(get_booking(&booking.id)))
}

/// Reserves a booking in the calendars of its attendees, stores it, and tells the others. It is refused as taken
/// if two of them do not see each other.
pub(crate) fn reserve(
    call: &Call,
    booking: Booking,
    taken: FinderError,
) -> Result<Stored<Booking>> {
    if !asking::hidden_from_another(&booking.attendees)?.is_empty() {
        return Err(taken);
    }
    let booking = BOOKINGS.add(call.new_id("bkg"), booking, call.now())?;
    let reserved = calendar::reserve(&Reserve {
        reference: booking.id.clone(),
        owner_ids: booking.value.attendees.clone(),
        slot: Slot::of(booking.value.begins, booking.value.ends),
        kind: Firmness::Firm,
        title: Some(booking.value.title.clone()),
        title_by: Some(booking.value.title_by.clone()),
        // The availability of those who are booked was compared before; that of who books limits only others.
        within_availability: false,
    });
    match reserved {
        Err(refusal) if refusal.code == "slot_taken" => {
            BOOKINGS.delete(&booking.id, Expect::Any)?;
            Err(taken)
        }
        other => {
            other?;
            let forgotten = BookingInput { booking_id: booking.id.as_str().into() };
            let at = booking.value.ends + BOOKING_KEPT_FOR;
            timers::set(&timer(&booking.id), at, "expire_booking", &forgotten)?;
            notices::booked(call, &booking)?;
            Ok(booking)
        }
    }
}

/// Returns whose turn it is: the person with the fewest bookings. Of several, it is drawn by lot, so that the one who
/// is booked does not tell that another one is not free.
pub(crate) fn next_in_turn(
    call: &Call,
    turns: &[Turn],
    free: impl IntoIterator<Item = String>,
) -> Option<String> {
    let bookings = |owner_id: &String| {
        let turn = turns.iter().find(|turn| turn.owner_id == *owner_id);
        turn.map_or(0, |turn| turn.bookings)
    };
    let mut due: Vec<String> = free.into_iter().collect();
    let fewest = due.iter().map(bookings).min()?;
    due.retain(|owner_id| bookings(owner_id) == fewest);
    let lots = call.random_numbers(u32::try_from(due.len()).unwrap_or(0));
    let drawn = due.into_iter().zip(lots).min_by(|(_, one), (_, other)| one.total_cmp(other));
    drawn.map(|(owner_id, _)| owner_id)
}

pub(crate) fn take_turn(turns: &mut Vec<Turn>, host: &str) {
    match turns.iter_mut().find(|turn| turn.owner_id == host) {
        Some(turn) => turn.bookings += 1,
        None => turns.push(Turn { owner_id: host.to_owned(), bookings: 1 }),
    }
}

fn give_turn_back(turns: &mut [Turn], host: Option<&str>) {
    for turn in turns.iter_mut().filter(|turn| Some(turn.owner_id.as_str()) == host) {
        turn.bookings = turn.bookings.saturating_sub(1);
    }
}

/// Cancels a booking that has not begun, for all who take part.
pub(crate) fn cancel(call: &Call, input: &BookingStep) -> Result<Answer<BookingView>> {
    let mut booking = Booking::load_own(call, &input.booking_id)?;
    let view = || crate::views::booking(call, &booking);
    booking.ensure_version(input.expected_version, view, get_booking(&booking.id))?;
    BOOKING.step(&booking.id, booking.value.state, "cancel_booking")?;
    if booking.value.begins <= call.now() {
        let message = "This meeting has begun.";
        let refusal = Refusal::common(ErrorCode::InvalidTransition, message);
        return Err(refusal.next(get_booking(&booking.id)).into());
    }
    end(call, &mut booking, "cancel_booking")?;
    Ok(Answer::new(crate::views::booking(call, &booking)).next(get_booking(&booking.id)))
}

/// Ends the holds and cancels the future bookings of two people with each other, or all of one person. Nobody is told
/// why.
pub(crate) fn cannot_meet(call: &Call, people: &CannotMeet) -> Result<()> {
    held::end_all_of(&people.owner_ids)?;
    let theirs = all_of(people.owner_ids.iter().map(|owner_id| field("attendees[]").eq(owner_id)));
    let confirmed = field("state").eq(BookingState::Confirmed);
    let future = theirs.and(confirmed).and(field("begins").gt(call.now()));
    let page = BOOKINGS.find(Query::new().filter(future).limit(ENDED_AT_ONCE))?;
    let (bookings, more) = page.into_parts();
    for mut booking in bookings {
        end(call, &mut booking, "part")?;
    }
    if more.is_some() {
        let timer = format!("part/{}", people.owner_ids.join("/"));
        timers::set(&timer, call.now(), "part", people)?;
    }
    Ok(())
}

/// Ends a booking: releases its time, gives the turn back, and tells the others. The turn stays used if the person
/// who booked cancels: otherwise, booking and cancelling would ask again and again whether the same one is free.
fn end(call: &Call, booking: &mut Stored<Booking>, action: &str) -> Result<()> {
    booking.step(&BOOKING, action)?;
    booking.value.changed_at = call.now();
    booking.save()?;
    calendar::release(&booking.id)?;
    let is_by_booker = call.owner_id() == Some(booking.value.by.as_str());
    let host = booking.value.host.as_deref().filter(|_| !is_by_booker);
    if let Some(link_id) = &booking.value.link_id
        && let Some(mut link) = LINKS.get(link_id)?
    {
        link.value.booked = link.value.booked.saturating_sub(1);
        give_turn_back(&mut link.value.turns, host);
        link.save()?;
    } else if let Some(group_id) = &booking.value.group_id
        && host.is_some()
        && let Some(mut group) = GROUPS.get(group_id)?
    {
        give_turn_back(&mut group.value.turns, host);
        group.save()?;
    }
    notices::cancelled(call, booking)
}

/// Deletes a booking long after its end.
pub(crate) fn expire(booking_id: &str) -> Result<()> {
    if BOOKINGS.get(booking_id)?.is_some() {
        BOOKINGS.delete(booking_id, Expect::Any)?;
    }
    Ok(())
}

fn timer(booking_id: &str) -> String {
    format!("booking/{booking_id}")
}

pub(crate) fn read(call: &Call, booking_id: &str) -> Result<BookingView> {
    Ok(crate::views::booking(call, &Booking::load_own(call, booking_id)?))
}

pub(crate) fn list_own(call: &Call, me: &str, input: ListBookings) -> Result<Items<BookingView>> {
    let state = input.state.map(|state| field("state").eq(state));
    let mine = field("attendees[]").eq(me).and(state);
    let bookings = BOOKINGS.find(input.page.last_changed(mine))?;
    Ok(Items::of(bookings, |booking| crate::views::booking(call, &booking)))
}
