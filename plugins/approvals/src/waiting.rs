//! Calls that wait: kept for the host, listed and shown.

use crate::{documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

const UNTRUSTED: &str = "untrusted_user_content";

pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<ApprovalView>>> {
    Items::own(call, |owner_id| {
        let states = input.state.map(|states| field("state").one_of(states));
        let filter = field("owner_id").eq(owner_id).and(states);
        let page = CALLS.find(input.page.last_changed(filter))?;
        Ok(Items::of(page, |waiting| view(&waiting)))
    })
}

pub(crate) fn get(call: &Call, approval_id: &str) -> Result<ApprovalView> {
    Ok(view(&WaitingCall::load_own(call, approval_id)?))
}

/// Stores a call that waits for approval. If the same call is already waiting, or was denied recently, returns that
/// approval. The approval that the call was made under, and that does not cover it, is not returned.
pub(crate) fn hold(call: &Call, input: Hold) -> Result<Held> {
    let now = call.now();
    let mut book = BOOKS.get_or_default(&input.owner_id)?;
    let denied = book.value.denied.iter();
    if let Some(denial) =
        denied.filter(|denial| denial.until > now).find(|denial| denial.digest == input.digest)
    {
        return Ok(Held {
            approval_id: denial.approval_id.clone(),
            state: State::Denied,
            expires_at: rfc3339(denial.until),
        });
    }
    let is_same = |entry: &&Entry| {
        entry.digest == input.digest && Some(&entry.approval_id) != input.after.as_ref()
    };
    if let Some(entry) = book.value.waiting.iter().find(is_same)
        && let Some(waiting) = CALLS.get(&entry.approval_id)?
    {
        return Ok(held(&waiting));
    }
    book.value.denied.retain(|denial| denial.until > now);
    book.value.waiting.retain(|entry| !is_same(&entry));
    let also: usize = input.covers.iter().map(|covered| covered.input.len()).sum();
    let bytes = input.call.len() + input.input.len() + also;
    if ensure_room(&book.value, bytes).is_err() {
        drop_gone(&mut book.value)?;
    }
    ensure_room(&book.value, bytes)?;
    ensure_share(&book.value, &input.agent_id)?;
    let policy = POLICIES.get_or_default(&input.owner_id)?.value;
    let hours = policy.expires_after_hours.unwrap_or(WAITS_HOURS);
    let expires_at = now + u64::from(hours) * HOUR;
    let waiting = CALLS.add(call.new_id("apr"), waiting_call(input, now, expires_at), now)?;
    let (approval_id, digest) = (waiting.id.clone(), waiting.value.digest.clone());
    book.value.waiting.push(Entry { approval_id, digest, bytes });
    BOOKS.save(&mut book)?;
    set_due(&waiting.id, expires_at)?;
    let summary = "A call of one of your agents waits for your approval on your account page.";
    let data = Data::by_system(waiting.resource(), summary, facts(&waiting));
    waiting.notify_owner(REQUESTED, &data.next(read(&waiting.id)))?;
    Ok(held(&waiting))
}

fn waiting_call(input: Hold, now: u64, expires_at: u64) -> WaitingCall {
    let also = input
        .covers
        .iter()
        .map(|covered| format!("{} {}:\n{}", covered.capability, covered.action, covered.input));
    let also: Vec<_> = also.collect();
    WaitingCall {
        title: format!("{} ({})", input.action_title, input.capability_title),
        owner_id: input.owner_id,
        agent_id: input.agent_id,
        agent_name: input.agent_name,
        state: State::Waiting,
        capability: input.capability,
        action: input.action_name,
        category: input.category,
        reason: input.reason,
        digest: input.digest,
        input: input.input,
        also: (!also.is_empty()).then(|| also.join("\n\n")),
        call: input.call,
        people: input.people,
        changed_at: now,
        expires_at,
        decided_at: None,
        outcome: None,
    }
}

/// Removes the entries of calls that are gone, because they named somebody who was erased.
fn drop_gone(book: &mut Book) -> Result<()> {
    let mut left = Vec::new();
    for entry in book.waiting.drain(..) {
        if CALLS.get(&entry.approval_id)?.is_some() {
            left.push(entry);
        }
    }
    book.waiting = left;
    Ok(())
}

/// Refuses a call for which there is no room among those that wait.
fn ensure_room(book: &Book, bytes: usize) -> Result<()> {
    let waiting: usize = book.waiting.iter().map(|entry| entry.bytes).sum();
    let (name, limit) = if bytes > CALL_BYTES {
        ("waiting_call_bytes", CALL_BYTES)
    } else if book.waiting.len() >= MOST_WAITING {
        ("waiting_calls", MOST_WAITING)
    } else if waiting + bytes > WAITING_BYTES {
        ("waiting_bytes", WAITING_BYTES)
    } else {
        return Ok(());
    };
    Err(no_room(name, limit))
}

/// Refuses a call of an agent that has made its share of those that wait, so that one agent leaves room to the others
/// of the person.
fn ensure_share(book: &Book, agent_id: &str) -> Result<()> {
    if book.waiting.len() < MOST_OF_AGENT {
        return Ok(());
    }
    let waiting = CALLS.get_many(book.waiting.iter().map(|entry| &*entry.approval_id))?;
    let waiting = waiting.iter().flatten();
    match waiting.filter(|waiting| waiting.value.agent_id == agent_id).count() {
        MOST_OF_AGENT.. => Err(no_room("waiting_calls_of_agent", MOST_OF_AGENT)),
        _ => Ok(()),
    }
}

fn no_room(name: &'static str, limit: usize) -> ApprovalsError {
    let message = "The call needs the person's approval, and there is no room for it among those that wait. Ask the person to decide about these first.";
    let limit = Limit::reached(name, limit as u64);
    quota(message, &limit, Next::action(CAPABILITY, "list")).into()
}

fn held(waiting: &Stored<WaitingCall>) -> Held {
    Held {
        approval_id: waiting.id.clone(),
        state: waiting.value.state,
        expires_at: rfc3339(waiting.value.expires_at),
    }
}

/// Sets when a call expires, or is forgotten.
pub(crate) fn set_due(approval_id: &str, at: u64) -> Result<()> {
    let input = json!({ "approval_id": approval_id });
    Ok(timers::set(&due_name(approval_id), at, "due", &input)?)
}

/// Cancels that, for a call that is forgotten already.
pub(crate) fn cancel_due(approval_id: &str) -> Result<()> {
    timers::cancel(&due_name(approval_id))?;
    Ok(())
}

fn due_name(approval_id: &str) -> String {
    format!("due/{approval_id}")
}

pub(crate) fn facts(waiting: &Stored<WaitingCall>) -> Facts {
    let value = &waiting.value;
    let outcome = value.outcome.as_ref();
    Facts {
        approval_id: waiting.id.clone(),
        capability: value.capability.clone(),
        action: value.action.clone(),
        agent_id: value.agent_id.clone(),
        expires_at: rfc3339(value.expires_at),
        code: outcome.and_then(|outcome| outcome.code.clone()),
        waiting: outcome.and_then(|outcome| outcome.waiting.clone()),
    }
}

pub(crate) fn view(waiting: &Stored<WaitingCall>) -> ApprovalView {
    let value = &waiting.value;
    let outcome = value.outcome.as_ref().map(|outcome| OutcomeView {
        code: outcome.code.clone(),
        message: outcome.message.clone(),
        output: outcome.output.clone(),
        waiting: outcome.waiting.clone(),
    });
    ApprovalView {
        approval_id: waiting.id.clone(),
        state: value.state,
        version: waiting.revision,
        allowed_actions: APPROVAL.allowed(value.state),
        title: value.title.clone(),
        capability: value.capability.clone(),
        action: value.action.clone(),
        category: value.category.clone(),
        reason: value.reason,
        agent_id: value.agent_id.clone(),
        agent_name: value.agent_name.clone(),
        input: value.input.clone(),
        also: value.also.clone(),
        requested_at: rfc3339(waiting.created_at),
        expires_at: rfc3339(value.expires_at),
        decided_at: value.decided_at.map(rfc3339),
        outcome,
        trust: UNTRUSTED,
    }
}
