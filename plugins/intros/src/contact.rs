//! The consent of requester and target to contact data in their conversation.

use crate::{documents::*, notices, refusals::*, respond, types::*, views};
use people_kit::threads::{self, ThreadState};
use portolan_sdk::prelude::*;

/// Records whether the caller allows contact data in the conversation. Once both allow it, it stays.
pub(crate) fn exchange(call: &Call, input: &ExchangeContact) -> Result<views::View> {
    let (id, expected) = (&input.intro_id, input.expected_version);
    let mut seat = respond::load_for_action(call, id, "exchange_contact", expected)?;
    ensure_can_talk(&seat.value)?;
    if seat.value.contact.of_both() {
        return views::view(&seat);
    }
    let role = if seat.value.role == Role::Target { Role::Requester } else { Role::Target };
    let mut other = seat.value.find(role)?.ok_or(IntroError::IntroNotFound)?;
    seat.value.contact.mine = input.allow;
    other.value.contact.theirs = input.allow;
    for stored in [&mut seat, &mut other] {
        stored.value.changed_at = call.now();
        stored.save()?;
    }
    if seat.value.contact.of_both() {
        notices::EXCHANGED.notify(&seat)?;
        notices::EXCHANGED.notify(&other)?;
    }
    views::view(&seat)
}

/// Refuses a closed or frozen conversation.
fn ensure_can_talk(seat: &Seat) -> Result<()> {
    let closed = || IntroError::ThreadClosed { intro_id: seat.intro_id.clone() };
    let thread_id = seat.thread_id.as_deref().ok_or_else(closed)?;
    let thread = threads::thread(thread_id, &seat.owner_id)
        .map_err(|error| IntroError::of_thread(error, &seat.intro_id))?;
    match thread.state {
        ThreadState::Open | ThreadState::Archived => Ok(()),
        ThreadState::Closed | ThreadState::Frozen => Err(closed()),
    }
}
