//! Membership: invitations, and how people leave.

use crate::{acceptance, documents::*, notices, refusals::*, states::*, threads, types::*, views};
use people_kit::threads::{ThreadError, ThreadState};
use people_kit::{people, relations};
use portolan_sdk::prelude::*;

/// Returns the thread, if the person takes part.
pub(crate) fn find_joined(me: &str, thread_id: &str) -> Result<Option<Stored<Thread>>> {
    Ok(THREADS.get(thread_id)?.filter(|thread| thread.value.has_joined(me)))
}

/// Returns the thread; refuses a person who does not take part in it.
pub(crate) fn load_joined(me: &str, thread_id: &str) -> Result<Stored<Thread>> {
    let thread = Thread::load(thread_id)?;
    if thread.value.has_joined(me) {
        return Ok(thread);
    }
    if !thread.value.is_visible_to(me) {
        return Err(Thread::not_found());
    }
    Err(refused(ErrorCode::NotParticipant, "Accept the invitation first.", thread_id))
}

/// Refuses a change if the caller has read another version.
fn check_version(call: &Call, thread: &Stored<Thread>, expected: Option<Version>) -> Result<()> {
    let me = call.require_owner()?;
    let current = || views::thread(call.now(), me, thread.clone()).ok();
    Ok(thread.ensure_version(expected, current, get(&thread.id))?)
}

/// Returns the thread for an action of a person who takes part, if its state allows the action.
pub(crate) fn step(call: &Call, input: &Step, action: &str) -> Result<Stored<Thread>> {
    let me = call.require_owner()?;
    let thread = load_joined(me, &input.thread_id)?;
    check_version(call, &thread, input.expected_version)?;
    THREAD.step(&thread.id, acceptance::state(&thread.value, me)?, action)?;
    Ok(thread)
}

pub(crate) fn invite(call: &Call, input: &MemberStep) -> Result<Stored<Thread>> {
    let (me, other, now) = (call.require_owner()?, input.owner_id.as_str(), call.now());
    let mut thread = load_joined(me, &input.thread_id)?;
    check_version(call, &thread, input.expected_version)?;
    ensure_can_be_invited(&thread, me, other, now)?;
    acceptance::step_to_write(&thread, me, "invite")?;
    let before = thread.value.member(other);
    if let Some(before) = before {
        MEMBERSHIP.step(&thread.id, before.membership, "invite")?;
    }
    let founder = before.is_some_and(Member::is_founder);
    let member = Member {
        owner_id: other.to_owned(),
        since: now,
        invited_by: (!founder).then(|| me.to_owned()),
        consents: vec![me.to_owned()],
        ..Member::default()
    };
    thread.value.members.retain(|member| member.owner_id != other);
    thread.value.members.push(member);
    let invited = invite_consented(&mut thread, now)?;
    thread.save()?;
    if invited.is_empty() {
        notices::membership_changed(call, &thread, other, false)?;
    }
    notify_invited(call, &thread, &invited)?;
    Ok(thread)
}

/// Refuses unless `me` may invite `other` now.
fn ensure_can_be_invited(thread: &Stored<Thread>, me: &str, other: &str, now: u64) -> Result<()> {
    let before = thread.value.member(other);
    if let Some(before) = before.filter(|member| member.membership.is_counted()) {
        return Err(ConversationError::AlreadyMember {
            thread_id: thread.id.clone(),
            existing_id: other.to_owned(),
            existing_state: before.membership.name(),
        });
    }
    // Whichever of the two has blocked the other, the refusal is that for a person who does not
    // exist.
    if people::person(other)?.is_none() || relations::are_blocked(me, other)? {
        return Err(ConversationError::OwnerNotFound { thread_id: thread.id.clone() });
    }
    let is_in_cooldown = |member: &Member| {
        matches!(member.membership, Membership::Declined | Membership::Left)
            && member.since + COOLDOWN > now
    };
    let is_accepted = relations::has_relation(format!("owner:{other}"), "can_message", me)?;
    if before.is_some_and(is_in_cooldown)
        || !is_accepted
        || acceptance::is_blocked(&thread.value, other)?
    {
        return Err(ThreadError::RecipientNotAccepting.into());
    }
    let members = &thread.value.members;
    if thread.value.size() >= MOST_MEMBERS || (before.is_none() && members.len() >= MOST_EVER) {
        return Err(ConversationError::MemberLimitReached { thread_id: thread.id.clone() });
    }
    Ok(())
}

pub(crate) fn consent(call: &Call, input: &Consent) -> Result<Stored<Thread>> {
    let (me, now, someone) = (call.require_owner()?, call.now(), &input.someone);
    let mut thread = step(call, &someone.step(), "consent")?;
    let id = thread.id.clone();
    let is_possible = !input.agree || acceptance::can_be_invited(&thread.value, &someone.owner_id)?;
    let member = member(&mut thread, &someone.owner_id)?;
    MEMBERSHIP.step(&id, member.membership, "consent")?;
    if !is_possible {
        return Err(ThreadError::RecipientNotAccepting.into());
    }
    if !input.agree {
        (member.membership, member.since) = (Membership::Removed, now);
    } else if !member.has_consent_of(me) {
        member.consents.push(me.to_owned());
    }
    let invited = invite_consented(&mut thread, now)?;
    thread.save()?;
    if !input.agree {
        notices::membership_changed(call, &thread, &someone.owner_id, false)?;
    }
    notify_invited(call, &thread, &invited)?;
    Ok(thread)
}

pub(crate) fn accept(call: &Call, input: &Step) -> Result<Stored<Thread>> {
    let (me, now) = (call.require_owner()?, call.now());
    let agent_id = call.require_agent()?.agent_id.clone();
    let mut thread = answer(call, input, "accept")?;
    acceptance::step_to_write(&thread, me, "accept")?;
    if acceptance::is_blocked(&thread.value, me)? {
        return Err(ThreadError::RecipientNotAccepting.into());
    }
    let last_seq = thread.value.last_seq;
    let member = step_member(&mut thread, me, "accept", now)?;
    (member.agent_id, member.joined_after) = (Some(agent_id), last_seq);
    // `invite_consented` has nothing to do here: a proposed person now needs this person's consent
    // too.
    thread.save()?;
    let marks = Marks { delivered: last_seq, read: last_seq };
    seat(&thread.id, me, |seat| (seat.receipt, seat.told, seat.unread) = (marks, marks, 0))?;
    acceptance::write_relations(&thread)?;
    notices::membership_changed(call, &thread, me, true)?;
    Ok(thread)
}

pub(crate) fn decline(call: &Call, input: &Step) -> Result<Stored<Thread>> {
    let thread = answer(call, input, "decline")?;
    THREAD.step(&thread.id, acceptance::state(&thread.value, call.require_owner()?)?, "decline")?;
    end_membership(call, thread, "decline")
}

pub(crate) fn leave(call: &Call, input: &Step) -> Result<Stored<Thread>> {
    end_membership(call, step(call, input, "leave")?, "leave")
}

/// Refuses a person who was invited later to close the conversation of others.
pub(crate) fn ensure_founder(call: &Call, thread: &Stored<Thread>) -> Result<()> {
    let is_founder = thread.value.member(call.require_owner()?).is_some_and(Member::is_founder);
    if is_founder {
        return Ok(());
    }
    let message =
        "Only a person for whom the conversation was opened can close it. You can leave it.";
    Err(refused(ErrorCode::NotPermitted, message, &thread.id))
}

pub(crate) fn remove(call: &Call, input: &MemberStep) -> Result<Stored<Thread>> {
    let (me, now, other) = (call.require_owner()?, call.now(), input.owner_id.as_str());
    let mut thread = step(call, &input.step(), "remove")?;
    let is_founder = |owner_id: &str| thread.value.member(owner_id).is_some_and(Member::is_founder);
    if !is_founder(me) || is_founder(other) {
        let message = "Only a person for whom the conversation was opened can remove others, and only \
                       people who were invited later.";
        return Err(refused(ErrorCode::NotPermitted, message, &thread.id));
    }
    let is_aware = member(&mut thread, other)?.membership.can_see();
    step_member(&mut thread, other, "remove", now)?;
    save_after_leaving(call, thread, other, is_aware)
}

/// Returns the thread of a person who answers an invitation.
fn answer(call: &Call, input: &Step, action: &str) -> Result<Stored<Thread>> {
    let me = call.require_owner()?;
    let thread = Thread::load_own(call, &input.thread_id)?;
    check_version(call, &thread, input.expected_version)?;
    if let Some(member) = thread.value.member(me) {
        MEMBERSHIP.step(&thread.id, member.membership, action)?;
    }
    Ok(thread)
}

fn end_membership(call: &Call, mut thread: Stored<Thread>, action: &str) -> Result<Stored<Thread>> {
    let me = call.require_owner()?;
    step_member(&mut thread, me, action, call.now())?;
    save_after_leaving(call, thread, me, true)
}

/// Writes a thread that a person has left, and closes it if nobody is left in it. `is_aware` is
/// whether the person knew of the thread.
fn save_after_leaving(
    call: &Call,
    mut thread: Stored<Thread>,
    owner_id: &str,
    is_aware: bool,
) -> Result<Stored<Thread>> {
    if thread.value.joined().next().is_none() && thread.value.state != ThreadState::Closed {
        threads::mark_closed(&mut thread, "everybody_left")?;
    }
    let invited = invite_consented(&mut thread, call.now())?;
    thread.save()?;
    if is_aware {
        seat(&thread.id, owner_id, |seat| seat.place = Place::Gone)?;
    }
    acceptance::write_relations(&thread)?;
    notices::membership_changed(call, &thread, owner_id, is_aware)?;
    notify_invited(call, &thread, &invited)?;
    Ok(thread)
}

/// Invites the proposed people to whom everybody in the thread has consented, or one person of each
/// organisation, and who can be invited; returns their ids.
fn invite_consented(thread: &mut Stored<Thread>, now: u64) -> Result<Vec<String>> {
    let sides = thread.value.sides();
    let is_due = |member: &&Member| {
        let consents =
            |side: &Vec<&Member>| side.iter().any(|other| member.has_consent_of(&other.owner_id));
        let all = sides.iter().all(consents);
        member.membership == Membership::Proposed && all && !sides.is_empty()
    };
    let mut invited = Vec::new();
    for member in thread.value.members.iter().filter(is_due) {
        if acceptance::can_be_invited(&thread.value, &member.owner_id)? {
            invited.push(member.owner_id.clone());
        }
    }
    for owner_id in &invited {
        if let Some(member) = thread.value.member_mut(owner_id) {
            (member.membership, member.since) = (Membership::Invited, now);
        }
        seat(&thread.id, owner_id, |seat| {
            (seat.place, seat.active_at) = (Place::Inbox, now);
            (seat.unread, seat.muted) = (0, false);
        })?;
        people_kit::delivery::unmute(owner_id, &thread.id)?;
    }
    Ok(invited)
}

fn notify_invited(call: &Call, thread: &Stored<Thread>, invited: &[String]) -> Result<()> {
    invited
        .iter()
        .try_for_each(|owner_id| notices::membership_changed(call, thread, owner_id, true))
}

fn member<'a>(thread: &'a mut Stored<Thread>, owner_id: &str) -> Result<&'a mut Member> {
    let id = thread.id.clone();
    let not_member =
        || refused(ErrorCode::NotFound, "This person does not take part in the conversation.", &id);
    thread.value.member_mut(owner_id).ok_or_else(not_member)
}

fn step_member<'a>(
    thread: &'a mut Stored<Thread>,
    owner_id: &str,
    action: &str,
    now: u64,
) -> Result<&'a mut Member> {
    let id = thread.id.clone();
    let member = member(thread, owner_id)?;
    member.membership = MEMBERSHIP.step(&id, member.membership, action)?;
    member.since = now;
    Ok(member)
}

/// Changes a person's seat, or makes one.
fn seat(thread_id: &str, owner_id: &str, change: impl FnOnce(&mut Seat)) -> Result<()> {
    let id = seat_id(thread_id, owner_id);
    let new = || Stored::new(id.as_str(), Seat::new(thread_id, owner_id, 0), 0);
    let mut seat = SEATS.get(&id)?.unwrap_or_else(new);
    change(&mut seat.value);
    Ok(SEATS.save(&mut seat)?)
}
