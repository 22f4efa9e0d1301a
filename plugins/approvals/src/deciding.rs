//! The decision about a call that waits, and what comes of it.

use crate::{documents::*, refusals::*, states::*, types::*, waiting::*};
use portolan_sdk::{contract::approvals, prelude::*};

/// The time after which the outcome of an approved call is unknown, if the host has not told it.
const STUCK_FOR: u64 = DAY;
const UNKNOWN: &str = ErrorCode::InternalError.name();
const UNKNOWN_MESSAGE: &str = "The outcome is unknown: the host has not told it within a day. Look whether the call was made before you make it again.";

/// The outcome that an event names for each state in which a call ends.
const SUMMARIES: [(State, &str); 5] = [
    (State::Done, "Your person has approved a call, and it was made."),
    (State::Failed, "Your person has approved a call, and it failed."),
    (State::Denied, "Your person has denied a call."),
    (State::Cancelled, "A call that waited for your person was cancelled."),
    (State::Expired, "A call that waited for your person has expired."),
];

pub(crate) fn approve(call: &Call, input: &Decide) -> Result<ApprovalView> {
    let mut waiting = load(call, input)?;
    waiting.step(&APPROVAL, "approve")?;
    if waiting.value.expires_at <= call.now() {
        let message = "The time in which you could decide about this call has passed.";
        let refusal = Refusal::common(ErrorCode::ApprovalExpired, message);
        return Err(refusal.next(read(&waiting.id)).into());
    }
    approvals::run(&waiting.id, &waiting.value.call, "executed")?;
    decide(call, &mut waiting)?;
    set_due(&waiting.id, call.now() + STUCK_FOR)?;
    Ok(view(&waiting))
}

pub(crate) fn deny(call: &Call, input: &Decide) -> Result<ApprovalView> {
    let mut waiting = load(call, input)?;
    waiting.step(&APPROVAL, "deny")?;
    let (approval_id, digest) = (waiting.id.clone(), waiting.value.digest.clone());
    let until = call.now() + DENIED_FOR;
    let mut book = BOOKS.get_or_default(&waiting.value.owner_id)?;
    book.value.denied.push(Denial { approval_id, digest, until });
    BOOKS.save(&mut book)?;
    end(call, &mut waiting)?;
    Ok(view(&waiting))
}

pub(crate) fn cancel(call: &Call, input: &Decide) -> Result<ApprovalView> {
    let mut waiting = load(call, input)?;
    if waiting.value.agent_id != call.require_agent()?.agent_id {
        let message = "Only the agent that has made the call can cancel it. The person can deny it on their account page.";
        let refusal = Refusal::common(ErrorCode::NotOwner, message);
        return Err(refusal.next(read(&waiting.id)).into());
    }
    waiting.step(&APPROVAL, "cancel")?;
    end(call, &mut waiting)?;
    Ok(view(&waiting))
}

/// Keeps what has come of an approved call. The host may tell it twice.
pub(crate) fn executed(call: &Call, input: Executed) -> Result<()> {
    let Some(mut waiting) = CALLS.get(&input.approval_id)? else { return Ok(()) };
    if waiting.value.state != State::Approved {
        return Ok(());
    }
    let to = match input.state {
        Ending::Done => State::Done,
        Ending::Failed => State::Failed,
    };
    waiting.step_to(&APPROVAL, "executed", to)?;
    let Executed { code, message, output, people, waiting: in_turn, .. } = input;
    let own = [waiting.value.owner_id.clone(), waiting.value.agent_id.clone()];
    waiting.value.people.extend(people.into_iter().filter(|id| !own.contains(id)));
    waiting.value.outcome = Some(Outcome { code, message, output, waiting: in_turn });
    end(call, &mut waiting)
}

/// Lets a waiting call expire whose time has come, ends one of whose outcome the host has told nothing, and forgets one
/// that has ended.
pub(crate) fn due(call: &Call, approval_id: &str) -> Result<()> {
    let Some(mut waiting) = CALLS.get(approval_id)? else { return Ok(()) };
    match waiting.value.state {
        State::Waiting if waiting.value.expires_at > call.now() => {
            set_due(approval_id, waiting.value.expires_at)
        }
        State::Waiting => {
            waiting.step(&APPROVAL, "due")?;
            end(call, &mut waiting)
        }
        State::Approved => {
            waiting.step(&APPROVAL, "due")?;
            let (code, message) = (Some(UNKNOWN.to_owned()), Some(UNKNOWN_MESSAGE.to_owned()));
            waiting.value.outcome = Some(Outcome { code, message, output: None, waiting: None });
            end(call, &mut waiting)
        }
        State::Done | State::Failed | State::Denied | State::Cancelled | State::Expired => {
            let mut book = BOOKS.get_or_default(&waiting.value.owner_id)?;
            if book.value.undecided.iter().any(|id| id == approval_id) {
                book.value.undecided.retain(|id| id != approval_id);
                BOOKS.save(&mut book)?;
            }
            Ok(CALLS.delete(approval_id, Expect::Revision(waiting.revision))?)
        }
    }
}

fn load(call: &Call, input: &Decide) -> Result<Stored<WaitingCall>> {
    let waiting = WaitingCall::load_own(call, &input.approval_id)?;
    waiting.ensure_version(input.expected_version, || view(&waiting), read(&waiting.id))?;
    Ok(waiting)
}

/// Saves a call about which somebody has decided.
fn decide(call: &Call, waiting: &mut Stored<WaitingCall>) -> Result<()> {
    waiting.value.changed_at = call.now();
    waiting.value.decided_at.get_or_insert(call.now());
    Ok(waiting.save()?)
}

/// Ends a call: it waits no longer, its agent is told, and it is forgotten later. What the host takes back is not
/// needed any more. Of a call about which nobody has decided, the inputs are not kept either, and the oldest of too
/// many such calls are forgotten: an agent can make and cancel calls as often as it likes.
fn end(call: &Call, waiting: &mut Stored<WaitingCall>) -> Result<()> {
    let is_undecided = matches!(waiting.value.state, State::Cancelled | State::Expired);
    waiting.value.call.clear();
    if is_undecided {
        waiting.value.input.clear();
        waiting.value.also = None;
    }
    decide(call, waiting)?;
    let mut book = BOOKS.get_or_default(&waiting.value.owner_id)?;
    book.value.waiting.retain(|entry| entry.approval_id != waiting.id);
    if is_undecided {
        book.value.undecided.push(waiting.id.clone());
        let excess = book.value.undecided.len().saturating_sub(MOST_UNDECIDED);
        for oldest in book.value.undecided.drain(..excess) {
            CALLS.delete(&oldest, Expect::Any)?;
            cancel_due(&oldest)?;
        }
    }
    BOOKS.save(&mut book)?;
    let kept_for = match waiting.value.state {
        State::Cancelled => CANCELLED_FOR,
        _ => KEPT_FOR,
    };
    set_due(&waiting.id, call.now() + kept_for)?;
    let summary = SUMMARIES.iter().find(|(state, _)| *state == waiting.value.state);
    let summary = summary.map_or("", |(_, summary)| summary);
    let data = Data::by_system(waiting.resource(), summary, facts(waiting));
    let to = Audience::Agent(waiting.value.agent_id.clone());
    Ok(waiting.publish(DECIDED, to, &data.next(read(&waiting.id)))?)
}

#[cfg(test)]
pub(crate) fn has_summary(state: State) -> bool {
    SUMMARIES.iter().any(|(other, _)| *other == state)
}
