//! The person's own side: receipts, mutes and the archive.
//!
//! The host does not tell a capability whether an agent has pulled an event, and reading messages
//! changes nothing. So nothing is guessed here: a message is `delivered` when the agents of all
//! others have called `mark_delivered`, and `read` when they have called `mark_read`.

use crate::views::{self, Receipt, ThreadView};
use crate::{
    acceptance::state, documents::*, members, notices, refusals::*, send, states::*, types::*,
};
use people_kit::{
    delivery::{self, CatalogChange, STATED_AT_ONCE, StateNext, begin_stating, go_on_stating},
    threads::ThreadState,
};
use portolan_sdk::prelude::*;

/// The action that tells the host all mutes.
const STATE_MUTES: &str = "state_mutes";

/// Records how far the person, or their agent, has received or read messages. Marks never go back.
pub(crate) fn mark(call: &Call, input: &Mark, action: &str) -> Result<Receipt> {
    let me = call.require_owner()?;
    let thread = members::load_joined(me, &input.thread_id)?;
    let message = send::load_visible(me, &thread, &input.up_to_message_id)?;
    let state = state(&thread.value, me)?;
    THREAD.step(&thread.id, state, action)?;
    let (mut seat, seq) = (seat(me, &thread)?, message.value.seq);
    let before = seat.value.clone();
    let Marks { delivered, read } = before.receipt;
    let read = if action == "mark_read" { seq.max(read) } else { read };
    let marks = Marks { delivered: seq.max(delivered), read };
    // A receipt shows that the person is active, so it is not passed on where they cannot write.
    let is_shared = matches!(state, ThreadState::Open | ThreadState::Archived);
    let shared = if is_shared { marks } else { before.told };
    if (marks, shared) == (before.receipt, before.told) {
        return Ok(Receipt::of(&seat.value));
    }
    if marks.read > before.receipt.read {
        let later = field("thread_id").eq(&thread.id).and(field("seq").gt(marks.read));
        seat.value.unread = MESSAGES.count(all_of([later, not(field("owner_id").eq(me))]))?;
    }
    (seat.value.receipt, seat.value.told) = (marks, shared);
    SEATS.save(&mut seat)?;
    if shared.read > before.told.read {
        let (thread_id, message_id) = (thread.id.clone(), Some(message.id));
        let more = Facts { thread_id, message_id, seq: Some(seq), ..Facts::default() };
        let summary = "Messages in a conversation were read.";
        let data = Data::new(call, thread.resource(), summary, more);
        let others = thread.value.others(me).map(|other| other.owner_id.as_str());
        notices::notify(READ, &thread, others, &data.next(messages(&thread.id, seq)))?;
    }
    Ok(Receipt::of(&seat.value))
}

pub(crate) fn mute(call: &Call, input: &Mute) -> Result<ThreadView> {
    let refused = || Refusal::validation("/until", "later_than_now", "an instant to come");
    let later = |until| time::parse(until).filter(|until| *until > call.now()).ok_or_else(refused);
    let until = input.until.as_deref().map(later).transpose()?;
    let view = change(call, &input.thread_id, "mute", |seat| {
        (seat.muted, seat.muted_until) = (true, until);
    })?;
    delivery::mute(call.require_owner()?, &input.thread_id, until)?;
    Ok(view)
}

pub(crate) fn unmute(call: &Call, thread_id: &str) -> Result<ThreadView> {
    let view = change(call, thread_id, "unmute", |seat| {
        (seat.muted, seat.muted_until) = (false, None);
    })?;
    delivery::unmute(call.require_owner()?, thread_id)?;
    Ok(view)
}

/// Begins to tell the host the mutes that were stored before it kept them.
pub(crate) fn on_catalog_changed(call: &Call, change: &CatalogChange) -> Result<()> {
    match change.names(CAPABILITY) && !SEATS.find(Query::new().limit(1))?.hits.is_empty() {
        true => Ok(begin_stating(call, STATE_MUTES)?),
        false => Ok(()),
    }
}

/// Tells the host the mutes of the next seats, and goes on with the others in another call.
pub(crate) fn state_mutes(call: &Call, input: StateNext) -> Result<()> {
    let page = SEATS.find(Query::new().limit(STATED_AT_ONCE).cursor(input.cursor))?;
    let (seats, next) = page.into_parts();
    for seat in seats.into_iter().map(|seat| seat.value) {
        if seat.is_muted(call.now()) {
            delivery::mute(&seat.owner_id, &seat.thread_id, seat.muted_until)?;
        }
    }
    Ok(go_on_stating(call, STATE_MUTES, next)?)
}

/// Changes the person's own seat, which is visible to nobody else.
pub(crate) fn change(
    call: &Call,
    thread_id: &str,
    action: &str,
    change: impl FnOnce(&mut Seat),
) -> Result<ThreadView> {
    let me = call.require_owner()?;
    let thread = members::load_joined(me, thread_id)?;
    THREAD.step(&thread.id, state(&thread.value, me)?, action)?;
    let mut seat = seat(me, &thread)?;
    change(&mut seat.value);
    SEATS.save(&mut seat)?;
    views::thread(call.now(), me, thread)
}

fn seat(me: &str, thread: &Stored<Thread>) -> Result<Stored<Seat>> {
    SEATS.get(&seat_id(&thread.id, me))?.ok_or_else(Thread::not_found)
}
