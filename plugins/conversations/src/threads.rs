//! Operations on whole threads: opened, closed, archived, suspended.

use crate::acceptance::{self, state};
use crate::{colleagues, documents::*, members, notices, refusals::*, states::*, types::*};
use people_kit::threads::{self as api, End, Open, Opened, ThreadQuery, ThreadState};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn open(call: &Call, input: Open) -> Result<Opened> {
    let people: BTreeSet<_> = input.participants.iter().map(|person| &person.owner_id).collect();
    if people.len() != input.participants.len() {
        return Err(Refusal::validation("/participants", "unique", "different people").into());
    }
    let generation = match find_last(&input.pairing_id)?.filter(|_| input.replace_closed) {
        Some(last) if last.value.state == ThreadState::Closed => last.value.generation + 1,
        Some(last) => return Ok(Opened { thread_id: last.id }),
        None => 0,
    };
    let (id, now) = (call.new_id("thr"), call.now());
    let member = |participant: api::Participant| Member {
        owner_id: participant.owner_id,
        agent_id: participant.agent_id,
        org_id: participant.org_id,
        membership: Membership::Joined,
        since: now,
        ..Member::default()
    };
    let mut value = Thread {
        pairing_id: input.pairing_id,
        generation,
        category: input.category,
        state: ThreadState::Open,
        members: input.participants.into_iter().map(member).collect(),
        last_seq: 0,
        last_message_id: None,
        contact_exchanged: false,
        active_at: now,
        close_reason: None,
    };
    colleagues::arrange(&mut value, now)?;
    let thread = match THREADS.add(id, value, now) {
        Ok(thread) => thread,
        Err(HostError::Duplicate(thread_id)) => return Ok(Opened { thread_id }),
        Err(error) => return Err(error.into()),
    };
    for member in thread.value.joined() {
        let seat = Seat::new(&thread.id, &member.owner_id, now);
        SEATS.add(seat_id(&thread.id, &member.owner_id), seat, now)?;
    }
    set_idle(&thread.id, now + IDLE)?;
    acceptance::write_relations(&thread)?;
    Ok(Opened { thread_id: thread.id })
}

/// Returns the last thread of a pairing or an application.
fn find_last(pairing_id: &str) -> Result<Option<Stored<Thread>>> {
    let threads = THREADS.find(Query::new().filter(field("pairing_id").eq(pairing_id)))?;
    Ok(threads.into_documents().max_by_key(|thread| thread.value.generation))
}

/// Returns the thread, as one of its participants sees it.
pub(crate) fn thread(input: &ThreadQuery) -> Result<api::Thread> {
    let thread =
        members::find_joined(&input.owner_id, &input.thread_id)?.ok_or_else(Thread::not_found)?;
    Ok(api::Thread {
        state: state(&thread.value, &input.owner_id)?,
        participants: thread.value.joined().map(|member| member.owner_id.clone()).collect(),
        orgs: thread
            .value
            .joined()
            .filter_map(|member| Some((member.owner_id.clone(), member.org_id.clone()?)))
            .collect(),
        pairing_id: thread.value.pairing_id,
        active_at: thread.value.active_at,
        thread_id: thread.id,
    })
}

pub(crate) fn close(call: &Call, input: &Step) -> Result<Stored<Thread>> {
    let mut thread = members::step(call, input, "close")?;
    members::ensure_founder(call, &thread)?;
    close_and_notify(call, &mut thread, "closed_by_participant")?;
    Ok(thread)
}

pub(crate) fn end(call: &Call, input: &End) -> Result<()> {
    let mut thread = Thread::load(&input.thread_id)?;
    THREAD.step(&thread.id, thread.value.state, "end")?;
    match thread.value.state {
        ThreadState::Closed => Ok(()),
        _ => close_and_notify(call, &mut thread, &input.reason),
    }
}

/// Closes a thread and notifies the others.
fn close_and_notify(call: &Call, thread: &mut Stored<Thread>, reason: &str) -> Result<()> {
    mark_closed(thread, reason)?;
    thread.save()?;
    acceptance::write_relations(thread)?;
    let more = Facts {
        thread_id: thread.id.clone(),
        reason: Some(reason.to_owned()),
        pairing_id: Some(thread.value.pairing_id.clone()),
        ..Facts::default()
    };
    let data = Data::new(call, thread.resource(), "A conversation is closed.", more);
    let data = data.next(crate::refusals::get(&thread.id));
    // A muted conversation has no event for a person, and its pairing ends with it all the same.
    thread.publish(CLOSED, Audience::Capabilities, &data)?;
    let others = thread.value.others(call.owner_id().unwrap_or_default());
    notices::notify(CLOSED, thread, others.map(|other| other.owner_id.as_str()), &data)
}

/// Marks a thread as closed. The calling function writes it.
pub(crate) fn mark_closed(thread: &mut Stored<Thread>, reason: &str) -> Result<()> {
    thread.value.state = ThreadState::Closed;
    thread.value.close_reason = Some(reason.to_owned());
    timers::cancel(&idle_timer(&thread.id))?;
    Ok(())
}

/// Archives a thread without messages for a long time; otherwise reschedules the check.
pub(crate) fn archive_if_idle(call: &Call, thread_id: &str) -> Result<()> {
    let is_open = |thread: &Stored<Thread>| thread.value.state == ThreadState::Open;
    let Some(mut thread) = THREADS.get(thread_id)?.filter(is_open) else { return Ok(()) };
    let due = thread.value.active_at + IDLE;
    if due > call.now() {
        return set_idle(thread_id, due);
    }
    thread.step(&THREAD, "rest")?;
    Ok(thread.save()?)
}

pub(crate) fn moderate(thread_id: &str, action: &str) -> Result<()> {
    let mut thread = Thread::load(thread_id)?;
    thread.step(&THREAD, action)?;
    if thread.value.state == ThreadState::Open {
        set_idle(thread_id, thread.value.active_at + IDLE)?;
    }
    thread.save()?;
    acceptance::write_relations(&thread)
}

/// Allows contact data in the thread's messages from now on.
pub(crate) fn contact_exchanged(thread_id: &str) -> Result<()> {
    let has_not_exchanged = |thread: &Stored<Thread>| !thread.value.contact_exchanged;
    if let Some(mut thread) = THREADS.get(thread_id)?.filter(has_not_exchanged) {
        thread.value.contact_exchanged = true;
        thread.save()?;
    }
    Ok(())
}

pub(crate) fn set_idle(thread_id: &str, at: u64) -> Result<()> {
    let input = ThreadId { thread_id: thread_id.into() };
    Ok(timers::set(&idle_timer(thread_id), at, "rest", &input)?)
}

fn idle_timer(thread_id: &str) -> String {
    format!("idle/{thread_id}")
}
