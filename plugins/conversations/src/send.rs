//! Messages: sent, edited, retracted, removed.

use crate::views::{self, MessageView};
use crate::{
    acceptance, documents::*, members, notices, refusals::*, states::*, threads, types::*,
};
use people_kit::hex;
use people_kit::text::{Faults, Lines, plain, public};
use people_kit::threads::{Post, Posted, ThreadError, ThreadState};
use portolan_sdk::{prelude::*, secrets, to_json};

/// The person who writes, and the agent that writes for them; `None` if they write themselves.
struct Author<'a> {
    owner_id: &'a str,
    agent_id: Option<String>,
}

pub(crate) fn send(call: &Call, input: Send) -> Result<MessageView> {
    let owner_id = call.require_owner()?;
    let agent_id = Some(call.require_agent()?.agent_id.clone());
    let (thread, message) = write(call, &Author { owner_id, agent_id }, input, "send")?;
    views::sent(call.now(), owner_id, &thread, message)
}

pub(crate) fn post(call: &Call, input: Post) -> Result<Posted> {
    let Post { thread_id, owner_id, agent_id, text, intent } = input;
    let thread_id = thread_id.into();
    let message = Send { thread_id, text, client_msg_id: None, reply_to: None, intent };
    let author = Author { owner_id: &owner_id, agent_id };
    let (_thread, message) = write(call, &author, message, "post")?;
    Ok(Posted { seq: message.value.seq, message_id: message.id })
}

fn write(
    call: &Call,
    author: &Author<'_>,
    input: Send,
    action: &str,
) -> Result<(Stored<Thread>, Stored<Message>)> {
    let (me, now) = (author.owner_id, call.now());
    let mut thread = members::load_joined(me, &input.thread_id)?;
    let content = to_json(&(&input.text, &input.reply_to, input.intent));
    let sent_as = match &input.client_msg_id {
        Some(id) => secrets::macs(format!("{}/{me}/{id}", thread.id).as_bytes())?,
        None => Vec::new(),
    };
    let sent_as: Vec<String> = sent_as.iter().map(|mac| hex::encode(mac)).collect();
    if let Some(known) = sent_before(&sent_as, &content)? {
        return Ok((thread, known));
    }
    let sent_as = sent_as.into_iter().next();
    let text = check_text(&thread.value, &input.text)?;
    if let Some(reply_to) = &input.reply_to {
        load_visible(me, &thread, reply_to)?;
    }
    let state = acceptance::step_to_write(&thread, me, action)?;
    let message = Message {
        thread_id: thread.id.clone(),
        seq: thread.value.last_seq + 1,
        owner_id: me.to_owned(),
        agent_id: author.agent_id.clone(),
        text: Some(text),
        intent: input.intent,
        reply_to: input.reply_to.map(Into::into),
        sent_mark: sent_as.as_ref().map(|_| secrets::mac(content.as_bytes())).transpose()?,
        sent_as,
        sent_at: now,
        ..Message::default()
    };
    let message = MESSAGES.add(call.new_id("msg"), message, now)?;
    if thread.value.state == ThreadState::Archived {
        threads::set_idle(&thread.id, now + IDLE)?;
    }
    let value = &mut thread.value;
    (value.state, value.active_at, value.last_seq) = (state, now, message.value.seq);
    value.last_message_id = Some(message.id.clone());
    thread.save()?;
    update_seats(&thread, me, now)?;
    notices::message_changed(&thread, &message, Happening::Sent)?;
    Ok((thread, message))
}

/// Moves the thread to the top of everybody's list, out of their archives.
fn update_seats(thread: &Stored<Thread>, sender: &str, now: u64) -> Result<()> {
    let joined = thread.value.joined().map(|member| member.owner_id.as_str());
    for mut seat in seats(&thread.id, joined)? {
        (seat.value.active_at, seat.value.place) = (now, Place::Inbox);
        if seat.value.owner_id != sender {
            seat.value.unread += 1;
        }
        SEATS.save(&mut seat)?;
    }
    Ok(())
}

/// Returns the message that was already sent with a `client_msg_id`, if there is one; refuses if
/// its content was different. `sent_as` contains the MACs of that id. Two concurrent calls cannot
/// both send one: each writes the thread, so one of the commits conflicts.
fn sent_before(sent_as: &[String], content: &str) -> Result<Option<Stored<Message>>> {
    if sent_as.is_empty() {
        return Ok(None);
    }
    let page = MESSAGES.find(Query::new().filter(field("sent_as").one_of(sent_as)).limit(1))?;
    let Some(known) = page.into_documents().next() else { return Ok(None) };
    if secrets::is_mac(content.as_bytes(), known.value.sent_mark.as_deref().unwrap_or_default())? {
        return Ok(Some(known));
    }
    Err(ConversationError::ClientMsgIdReused {
        seq: known.value.seq,
        existing_state: known.value.state.name(),
        thread_id: known.value.thread_id,
        existing_id: known.id,
    })
}

fn check_text(thread: &Thread, text: &str) -> Result<String> {
    let mut faults = Faults::default();
    let check = if thread.allows_contact_data() { plain } else { public };
    let text = check("/text", text, Lines::Many, &mut faults);
    faults.check().map_err(ThreadError::from)?;
    Ok(text)
}

/// Returns a message of this thread, written since the person joined.
pub(crate) fn load_visible(
    me: &str,
    thread: &Stored<Thread>,
    message_id: &str,
) -> Result<Stored<Message>> {
    let is_visible = |message: &Message| {
        message.thread_id == thread.id && message.seq > thread.value.unseen_until(me)
    };
    let message = MESSAGES.get(message_id)?.filter(|message| is_visible(&message.value));
    message.ok_or_else(Message::not_found)
}

/// Returns a message that the caller wrote, and its thread.
fn load_own_message(
    call: &Call,
    message_id: &str,
    expected: Option<Version>,
) -> Result<(Stored<Thread>, Stored<Message>)> {
    let me = call.require_owner()?;
    let known = Message::load(message_id)?;
    let thread =
        members::find_joined(me, &known.value.thread_id)?.ok_or_else(Message::not_found)?;
    let message = load_visible(me, &thread, message_id)?;
    if message.value.owner_id != me {
        let refusal = "Only the author of this message may do this.";
        return Err(refused(ErrorCode::NotOwner, refusal, &thread.id));
    }
    let read = messages(&thread.id, message.value.seq);
    let current = || views::message(call.now(), me, &thread, message.clone()).ok();
    message.ensure_version(expected, current, read)?;
    Ok((thread, message))
}

pub(crate) fn edit(call: &Call, input: &Edit) -> Result<MessageView> {
    let (me, now) = (call.require_owner()?, call.now());
    let (thread, mut message) = load_own_message(call, &input.message_id, input.expected_version)?;
    let text = check_text(&thread.value, &input.text)?;
    acceptance::step_to_write(&thread, me, "edit")?;
    step(&mut message, "edit")?;
    if now > message.value.sent_at + EDIT_WINDOW {
        return Err(ConversationError::EditWindowPassed { thread_id: thread.id });
    }
    (message.value.text, message.value.edited_at) = (Some(text), Some(now));
    message.save()?;
    notices::message_changed(&thread, &message, Happening::Edited)?;
    views::message(now, me, &thread, message)
}

pub(crate) fn retract(call: &Call, input: &Retract) -> Result<MessageView> {
    let me = call.require_owner()?;
    let (thread, mut message) = load_own_message(call, &input.message_id, input.expected_version)?;
    erase(&thread, &mut message, "retract", Happening::Retracted)?;
    views::message(call.now(), me, &thread, message)
}

pub(crate) fn remove(input: RemoveMessage) -> Result<()> {
    let mut message = Message::load(&input.message_id)?;
    let thread = THREADS.get(&message.value.thread_id)?.ok_or_else(Message::not_found)?;
    message.value.reason = Some(input.reason);
    erase(&thread, &mut message, "remove_message", Happening::Removed)
}

/// Leaves a tombstone: the number stays, the text is deleted for good.
fn erase(
    thread: &Stored<Thread>,
    message: &mut Stored<Message>,
    action: &str,
    change: Happening,
) -> Result<()> {
    step(message, action)?;
    message.value.text = None;
    message.save()?;
    notices::message_changed(thread, message, change)
}

/// Applies an action to a message, or refuses with its current state.
fn step(message: &mut Stored<Message>, action: &str) -> Result<()> {
    let next = messages(&message.value.thread_id, message.value.seq);
    message.step(&MESSAGE, action).map_err(|refusal| refusal.next(next).into())
}
