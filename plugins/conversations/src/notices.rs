//! The events and their recipients. The host keeps them from people who have muted the thread.

use crate::{documents::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

pub(crate) fn notify<'a>(
    event: ThreadEvent,
    thread: &Stored<Thread>,
    to: impl IntoIterator<Item = &'a str>,
    data: &Data<Facts>,
) -> Result<()> {
    for seat in seats(&thread.id, to)? {
        let audience = Audience::Owner(seat.value.owner_id);
        event.publish(audience, thread.subject(), data)?;
    }
    Ok(())
}

/// Publishes a change of a message to everybody who sees it, except its sender.
pub(crate) fn message_changed(
    thread: &Stored<Thread>,
    message: &Stored<Message>,
    change: Happening,
) -> Result<()> {
    let value = &message.value;
    let more = Facts {
        thread_id: thread.id.clone(),
        message_id: Some(message.id.clone()),
        seq: Some(value.seq),
        change: Some(change),
        ..Facts::default()
    };
    let is_visible = |member: &&Member| member.joined_after < value.seq;
    let others = thread.value.others(&value.owner_id).filter(is_visible);
    let (by, resource) = (&value.owner_id, thread.resource());
    let summary = match change {
        Happening::Sent => "A message was sent in a conversation.",
        Happening::Edited => "A message in a conversation was edited.",
        Happening::Retracted => "A message in a conversation was retracted.",
        Happening::Removed => "A message in a conversation was removed.",
    };
    let (data, too) = match change {
        Happening::Removed => (Data::by_system(resource, summary, more), thread.value.member(by)),
        _ => (Data::by_owner(by, resource, summary, more), None),
    };
    let data = data.next(messages(&thread.id, value.seq));
    let to = others.chain(too.filter(|member| member.membership.can_see()));
    notify(WRITTEN, thread, to.map(|member| member.owner_id.as_str()), &data)
}

/// Publishes a change of a membership to the members and, if they know about the thread, to the
/// person; not to the caller.
pub(crate) fn membership_changed(
    call: &Call,
    thread: &Stored<Thread>,
    whom: &str,
    is_aware: bool,
) -> Result<()> {
    let Some(member) = thread.value.member(whom) else { return Ok(()) };
    let more = Facts {
        thread_id: thread.id.clone(),
        owner_id: Some(whom.to_owned()),
        membership: Some(member.membership),
        ..Facts::default()
    };
    let actor = call.owner_id().unwrap_or_default();
    let others = thread.value.joined().map(|member| member.owner_id.as_str());
    let others = others.filter(|other| ![actor, whom].contains(other));
    let summary = "Somebody's part in a conversation changed.";
    let data = |next| Data::new(call, thread.resource(), summary, more.clone()).next(next);
    notify(MEMBER_CHANGED, thread, others, &data(get(&thread.id)))?;
    let next = if member.membership.can_see() { get(&thread.id) } else { list() };
    let concerned = Some(whom).filter(|concerned| is_aware && *concerned != actor);
    notify(MEMBER_CHANGED, thread, concerned, &data(next))
}
