//! Who is told what. Somebody who has muted a thread is told nothing of it.

use crate::{kept::*, refusals::*, types::*};
use people_kit::{UNTRUSTED, contact::has_contact_data};
use portolan_sdk::prelude::*;

pub(crate) fn resource(thread: &Stored<Thread>) -> Resource {
    Resource {
        kind: "thread",
        id: thread.id.clone(),
        state: thread.value.state.name(),
        version: thread.revision,
    }
}

/// Puts an event into the inboxes of these people.
pub(crate) fn tell<'a, T: Serialize>(
    call: &Call,
    event: Event<Data<T>>,
    thread: &Stored<Thread>,
    to: impl IntoIterator<Item = &'a str>,
    data: &Data<T>,
) -> Result<(), HostError> {
    for seat in seats(&thread.id, to)? {
        if !seat.value.is_muted(call.now()) {
            let audience = Audience::Owner(seat.value.owner_id);
            event.publish(audience, format!("threads/{}", thread.id), data)?;
        }
    }
    Ok(())
}

/// Tells everybody who sees the message what has become of it, but for its sender.
pub(crate) fn written(
    call: &Call,
    thread: &Stored<Thread>,
    message: &Stored<Message>,
    change: Happening,
) -> Result<(), HostError> {
    let value = &message.value;
    // Events hold no contact data, also where messages do.
    let text = value.text.clone().filter(|text| !has_contact_data(text));
    let more = Written {
        thread_id: thread.id.clone(),
        message_id: message.id.clone(),
        seq: value.seq,
        change,
        trust: text.is_some().then_some(UNTRUSTED),
        text,
    };
    let sees = |it: &&Member| it.joined_after < value.seq;
    let others = thread.value.others(&value.owner_id).filter(sees);
    let (by, resource) = (&value.owner_id, resource(thread));
    let (data, too) = match change {
        Happening::Sent => {
            (Data::by_owner(by, resource, "There is a message in a conversation.", more), None)
        }
        Happening::Edited => {
            (Data::by_owner(by, resource, "A message in a conversation was edited.", more), None)
        }
        Happening::Retracted => {
            (Data::by_owner(by, resource, "A message in a conversation was retracted.", more), None)
        }
        Happening::Removed => {
            let summary = "A message in a conversation was removed.";
            (Data::by_system(resource, summary, more), thread.value.member(by))
        }
    };
    let data = data.next(messages(&thread.id, value.seq));
    let to = others.chain(too.filter(|it| it.membership.sees()));
    tell(call, WRITTEN, thread, to.map(|it| it.owner_id.as_str()), &data)
}

/// Tells what has become of somebody's membership: those who take part, and the person, as far as
/// they know of the thread.
pub(crate) fn moved(
    call: &Call,
    thread: &Stored<Thread>,
    owner_id: &str,
    knows: bool,
) -> Result<(), HostError> {
    let Some(member) = thread.value.member(owner_id) else { return Ok(()) };
    let more = Moved {
        thread_id: thread.id.clone(),
        owner_id: owner_id.to_owned(),
        membership: member.membership,
    };
    let actor = call.owner_id().unwrap_or_default();
    let others = thread.value.joined().map(|it| it.owner_id.as_str());
    let others = others.filter(|it| ![actor, owner_id].contains(it));
    let summary = "Somebody's part in a conversation changed.";
    let data = |next| Data::new(call, resource(thread), summary, more.clone()).next(next);
    tell(call, MEMBER_CHANGED, thread, others, &data(get(&thread.id)))?;
    let next = if member.membership.sees() { get(&thread.id) } else { list() };
    let concerned = Some(owner_id).filter(|it| knows && *it != actor);
    tell(call, MEMBER_CHANGED, thread, concerned, &data(next))
}
