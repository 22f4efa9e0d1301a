//! How a participant sees a thread and its messages.

use crate::{kept::*, life::*, outputs::*, reach::Reach, refusals::*};
use people_kit::{UNTRUSTED, threads::ThreadState};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The data needed to show a thread to one person.
struct Scene<'a> {
    now: u64,
    me: &'a str,
    thread: &'a Stored<Thread>,
    /// The state as the person sees it.
    state: ThreadState,
    /// The seats of all members, by their ids.
    seats: &'a BTreeMap<String, Seat>,
}

/// Returns threads as the person sees them, in the same order.
pub(crate) fn threads(now: u64, me: &str, threads: &[Stored<Thread>]) -> Result<Vec<ThreadView>> {
    let reach = Reach::of(me, threads.iter().map(|thread| &thread.value))?;
    let people = |thread: &Stored<Thread>| {
        let seated = thread.value.members.iter().filter(|thread| thread.membership.sees());
        seated.map(|member| seat_id(&thread.id, &member.owner_id)).collect::<Vec<_>>()
    };
    let found = SEATS.get_many(threads.iter().flat_map(people))?.into_iter().flatten();
    let seats: BTreeMap<_, _> = found.map(|seat| (seat.id, seat.value)).collect();
    let last: Vec<_> =
        threads.iter().filter_map(|thread| thread.value.last_message_id.clone()).collect();
    let found = MESSAGES.get_many(last)?.into_iter().flatten();
    let last: BTreeMap<_, _> =
        found.map(|message| (message.value.thread_id.clone(), message)).collect();
    let view = |thread: &Stored<Thread>| {
        let state = reach.state(&thread.value, me);
        let scene = Scene { now, me, thread, state, seats: &seats };
        scene.view(last.get(&thread.id))
    };
    Ok(threads.iter().map(view).collect())
}

/// Returns one thread as the person sees it.
pub(crate) fn thread(now: u64, me: &str, thread: Stored<Thread>) -> Result<ThreadView> {
    let view = threads(now, me, &[thread])?.pop();
    view.ok_or_else(Thread::not_found)
}

/// Returns messages of one thread as the person sees them.
pub(crate) fn messages(
    now: u64,
    me: &str,
    thread: &Stored<Thread>,
    messages: Vec<Stored<Message>>,
) -> Result<Vec<MessageView>> {
    let state = Reach::of(me, [&thread.value])?.state(&thread.value, me);
    let joined = thread.value.joined().map(|member| member.owner_id.as_str());
    let found = seats(&thread.id, joined)?.into_iter();
    let seats = found.map(|seat| (seat.id, seat.value)).collect();
    let scene = Scene { now, me, thread, state, seats: &seats };
    Ok(messages.iter().map(|message| scene.message(message)).collect())
}

/// Returns one message as the person sees it.
pub(crate) fn message(
    now: u64,
    me: &str,
    thread: &Stored<Thread>,
    message: Stored<Message>,
) -> Result<MessageView> {
    let view = messages(now, me, thread, vec![message])?.pop();
    view.ok_or_else(Message::not_found)
}

impl Scene<'_> {
    fn view(&self, last: Option<&Stored<Message>>) -> ThreadView {
        let Stored { id, revision, value, created_at, .. } = self.thread;
        let part = value.member(self.me);
        let sees = |message: &&Stored<Message>| {
            let since = part.filter(|message| message.membership == Membership::Joined);
            since.is_some_and(|part| message.value.seq > part.joined_after)
        };
        let there = value.members.iter().filter(|member| member.membership.counts());
        // An invited person sees who takes part, but not who else was proposed.
        let there = there.filter(|member| {
            part.is_some_and(|part| part.membership == Membership::Joined)
                || member.membership != Membership::Proposed
        });
        let view = view!(value => ThreadView {
            pairing_id, category, last_seq, close_reason;
            thread_id: id.clone(),
            state: self.state,
            version: *revision,
            allowed_actions: self.allowed(part),
            participants: there.map(|member| self.participant(member)).collect(),
            last_message: last.filter(sees).map(|message| self.message(message)),
            unread: 0,
            muted: false,
            muted_until: None,
            archived: false,
            takes_contact_data: value.takes_contact_data(),
            created_at: rfc3339(*created_at),
            active_at: rfc3339(value.active_at),
        });
        match self.seat(self.me) {
            Some(seat) => view.seen_from(seat, self.now),
            None => view,
        }
    }

    /// Returns the actions that the person may take on the thread now. Actions on messages are
    /// listed with each message.
    fn allowed(&self, part: Option<&Member>) -> Vec<&'static str> {
        let role = match part.map(|member| member.membership) {
            Some(Membership::Joined) => MEMBER,
            Some(Membership::Invited) => INVITED,
            _ => return Vec::new(),
        };
        let members = &self.thread.value.members;
        let waits = members.iter().any(|member| {
            member.membership == Membership::Proposed && !member.has_consent_of(self.me)
        });
        let removes = part.is_some_and(Member::is_founder)
            && members.iter().any(|member| !member.is_founder() && member.membership.counts());
        let mut allowed = THREAD.allowed_as(role, self.state);
        allowed.retain(|action| match *action {
            "edit" | "retract" => false,
            "consent" => waits,
            "remove" => removes,
            _ => true,
        });
        allowed
    }

    fn participant(&self, member: &Member) -> ParticipantView {
        let told = self.told(&member.owner_id);
        view!(member => ParticipantView {
            owner_id, agent_id, membership, invited_by;
            since: rfc3339(member.since),
            founder: member.is_founder(),
            delivered_seq: told.delivered,
            read_seq: told.read,
        })
    }

    fn message(&self, stored: &Stored<Message>) -> MessageView {
        let value = &stored.value;
        let own = value.owner_id == self.me;
        let state = self.progress(value);
        let in_time = self.now <= value.sent_at + EDIT_WINDOW;
        let open = THREAD.allowed_as(MEMBER, self.state);
        let mut allowed = MESSAGE.allowed_as(if own { SENDER } else { RECIPIENT }, state);
        allowed.retain(|action| open.contains(action) && (*action != "edit" || in_time));
        view!(value => MessageView {
            thread_id, seq, text, intent, reply_to;
            message_id: stored.id.clone(),
            sender: Sender {
                owner_id: value.owner_id.clone(),
                via: if value.agent_id.is_some() { Via::Agent } else { Via::Human },
                agent_id: value.agent_id.clone(),
            },
            trust: UNTRUSTED,
            state,
            version: stored.revision,
            allowed_actions: allowed,
            created_at: rfc3339(value.sent_at),
            edited_at: value.edited_at.map(rfc3339),
            reason: value.reason.clone().filter(|_| own),
        })
    }

    /// Returns the state of a message: that of the recipient who is least far.
    fn progress(&self, message: &Message) -> MessageState {
        let seq = message.seq;
        let others = self.thread.value.others(&message.owner_id);
        let others = others.filter(|other| other.joined_after < seq);
        let told: Vec<Marks> = others.map(|other| self.told(&other.owner_id)).collect();
        if message.state != MessageState::Accepted || told.is_empty() {
            return message.state;
        }
        if told.iter().all(|marks| marks.read >= seq) {
            MessageState::Read
        } else if told.iter().all(|marks| marks.delivered >= seq) {
            MessageState::Delivered
        } else {
            MessageState::Accepted
        }
    }

    /// Returns how far the others know that this person is.
    fn told(&self, owner_id: &str) -> Marks {
        self.seat(owner_id).map(|seat| seat.told).unwrap_or_default()
    }

    fn seat(&self, owner_id: &str) -> Option<&Seat> {
        self.seats.get(&seat_id(&self.thread.id, owner_id))
    }
}
