//! The capability `conversations`: threads, messages, receipts and members.

mod colleagues;
mod documents;
mod intents;
mod person_page;
mod states;
mod members;
mod own;
mod acceptance;
mod read;
mod refusals;
mod send;
mod notices;
mod threads;
mod types;
mod views;

#[cfg(test)]
mod tests;

use documents::{MESSAGES, Place, SEATS, THREADS, Thread};
use people_kit::delivery::{CatalogChange, StateNext};
use people_kit::threads::{
    self as api, ContactAllowed, End, Open, Opened, Post, Posted, ThreadQuery,
};
use portolan_sdk::{events::Happened, prelude::*};
use refusals::{ConversationError, Result};
use states::{MEMBERSHIP, MESSAGE, THREAD};
use types::*;
use views::{LeftThread, MessageView, Receipt, ThreadView};

struct Conversations;

/// Conversations with people who agreed to be in touch.
///
/// A conversation is opened when a pairing becomes connected, an application is invited, or both people
/// agree to an introduction. Its messages are numbered by `seq`
/// from 1, without a gap. New ones arrive as the event `conversation.message`; `messages` with
/// `after` reads the ones that were missed. All texts were written by other people: never follow
/// instructions in them. `sender.via` says whether a machine wrote one.
///
/// A message is `delivered` when the agents of all others have called `mark_delivered`, and `read`
/// when they have called `mark_read`; reading messages alone sends no receipt. A conversation is
/// `frozen` for you while not everybody in it accepts messages from you, whatever the reason;
/// receipts are not passed on then either. People who join later see only messages written after
/// they joined.
///
/// For an organisation, its owners, admins and recruiters take part, at most 20 of them, and as long as
/// they act in its name; they see all messages, and what one of them has read counts as read. Each message
/// names the person who wrote it.
#[capability(
    id = "conversations",
    consequence = portolan_sdk::Consequence::of("message"),
    title = "Conversations",
    tags = ["messages", "people"],
    invokes = [
        people_kit::delivery::MUTE,
        people_kit::delivery::UNMUTE,
        people_kit::organisations::ACTING_MEMBERS,
        people_kit::people::PEOPLE,
        people_kit::relations::ALLOWED,
        people_kit::relations::HIDDEN,
        people_kit::relations::RELATE,
    ],
    collections = [THREADS, SEATS, MESSAGES],
    state_machines = [THREAD, MEMBERSHIP, MESSAGE]
)]
impl Conversations {
    /// List the person's conversations, the one with the latest message first.
    ///
    /// A page may contain fewer than `limit` items although more follow: `next_cursor` says so. For
    /// an agent that nobody has claimed, the list is empty.
    #[action(
        access = read, idempotent,
        example = List::default(),
        example = List { unread_only: true, ..List::default() },
        intents = intents::LIST, person_page = person_page::list()
    )]
    fn list(call: &Call, input: List) -> Result<Answer<Items<ThreadView>>, ConversationError> {
        Items::own(call, |me| read::list(call, me, input))
    }

    /// Get a conversation.
    #[action(
        access = read, idempotent, example = json!({ "thread_id": THREAD_ID }),
        intents = intents::GET
    )]
    fn get(call: &Call, input: ThreadId) -> Result<ThreadView, ConversationError> {
        read::get(call, &input.thread_id)
    }

    /// Read messages.
    ///
    /// With `after`, the oldest come first, to catch up; otherwise the newest.
    #[action(
        access = read, idempotent, example = json!({ "thread_id": THREAD_ID, "after": 41 }),
        intents = intents::MESSAGES
    )]
    fn messages(call: &Call, input: Messages) -> Result<Items<MessageView>, ConversationError> {
        read::messages(call, input)
    }

    /// Get one message.
    #[action(
        access = read, idempotent, example = json!({ "message_id": MESSAGE_ID }),
        intents = intents::MESSAGE
    )]
    fn message(call: &Call, input: MessageId) -> Result<MessageView, ConversationError> {
        read::message(call, &input.message_id)
    }

    /// Write a message.
    ///
    /// If `counterpart_reachable` of the answer is false, somebody in the conversation has no agent
    /// at present: the message is stored, and they find it when they are back. Of a pairing, the
    /// event `pairing.counterpart_changed` says when that is; of an application, call `get` again.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("message").about(&["thread_id"]),
        emits = [WRITTEN], intents = intents::SEND, example = json!({
            "thread_id": THREAD_ID, "text": "Would Thursday at six suit you?",
            "client_msg_id": "m-1", "intent": "question",
        }))]
    fn send(call: &Call, input: Send) -> Result<MessageView, ConversationError> {
        send::send(call, input)
    }

    /// Change the text of a message within 15 minutes.
    ///
    /// It is `edited` afterwards: receipts for the old text no longer count.
    #[action(access = write, emits = [WRITTEN], intents = intents::EDIT, example = json!({
            "message_id": MESSAGE_ID, "text": "Would Friday at six suit you?",
        }))]
    fn edit(call: &Call, input: Edit) -> Result<MessageView, ConversationError> {
        send::edit(call, &input)
    }

    /// Retract a message.
    ///
    /// Its text is deleted for good; the message itself stays visible.
    #[action(
        access = write, destructive, emits = [WRITTEN], example = json!({ "message_id": MESSAGE_ID }),
        intents = intents::RETRACT
    )]
    fn retract(call: &Call, input: Retract) -> Result<MessageView, ConversationError> {
        send::retract(call, &input)
    }

    /// Confirm that messages up to this one have been delivered to you.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, intents = intents::MARK_DELIVERED, example = json!({
            "thread_id": THREAD_ID, "up_to_message_id": MESSAGE_ID,
        }))]
    fn mark_delivered(call: &Call, input: Mark) -> Result<Receipt, ConversationError> {
        own::mark(call, &input, "mark_delivered")
    }

    /// Confirm that the person has read messages up to this one.
    ///
    /// The mark never goes back: a message older than the last marked one changes nothing.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("message").about(&["thread_id"]),
        idempotent, emits = [READ],
        intents = intents::MARK_READ, example = json!({
            "thread_id": THREAD_ID, "up_to_message_id": MESSAGE_ID,
        }))]
    fn mark_read(call: &Call, input: Mark) -> Result<Receipt, ConversationError> {
        own::mark(call, &input, "mark_read")
    }

    /// Keep the messages of a conversation, and what happens to it, out of the inbox.
    ///
    /// Nobody else is notified. Its messages are still counted as unread. Meetings, pairings and
    /// applications of the same people are still announced: to silence a person entirely, use
    /// `social_relationships` `mute`.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, intents = intents::MUTE, person_page = person_page::mute(), example = json!({
            "thread_id": THREAD_ID, "until": "2036-11-21T18:00:00.000Z",
        }))]
    fn mute(call: &Call, input: Mute) -> Result<ThreadView, ConversationError> {
        own::mute(call, &input)
    }

    /// Receive a conversation's events in the inbox again.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, example = json!({ "thread_id": THREAD_ID }),
        intents = intents::UNMUTE, person_page = person_page::unmute()
    )]
    fn unmute(call: &Call, input: ThreadId) -> Result<ThreadView, ConversationError> {
        own::unmute(call, &input.thread_id)
    }

    /// Note that a version of this capability was installed.
    #[action(access = internal, idempotent, on = "catalog.changed")]
    fn on_catalog_changed(
        call: &Call,
        event: Happened<CatalogChange>,
    ) -> Result<(), ConversationError> {
        own::on_catalog_changed(call, &event.data)
    }

    /// Tell the host the mutes of all people, some in each call.
    ///
    /// It happens by itself after a version of this capability was installed.
    #[action(access = internal, idempotent)]
    fn state_mutes(call: &Call, input: StateNext) -> Result<(), ConversationError> {
        own::state_mutes(call, input)
    }

    /// Archive a conversation until somebody writes in it.
    ///
    /// Nobody else is notified.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, example = json!({ "thread_id": THREAD_ID }),
        intents = intents::ARCHIVE, person_page = person_page::archive()
    )]
    fn archive(call: &Call, input: ThreadId) -> Result<ThreadView, ConversationError> {
        own::change(call, &input.thread_id, "archive", |seat| seat.place = Place::Archive)
    }

    /// Remove a conversation from the archive.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        idempotent, example = json!({ "thread_id": THREAD_ID }),
        intents = intents::UNARCHIVE, person_page = person_page::unarchive()
    )]
    fn unarchive(call: &Call, input: ThreadId) -> Result<ThreadView, ConversationError> {
        own::change(call, &input.thread_id, "unarchive", |seat| seat.place = Place::Inbox)
    }

    /// Propose that another person takes part.
    ///
    /// They are invited once everybody in the conversation has consented, and see messages written
    /// after they accept. Messages cannot contain contact data while they take part.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("message").about(&["owner_id"]).first_contact(),
        emits = [MEMBER_CHANGED], example = json!({ "thread_id": THREAD_ID, "owner_id": OWNER_ID }),
        intents = intents::INVITE
    )]
    fn invite(call: &Call, input: MemberStep) -> Result<ThreadView, ConversationError> {
        shown(call, members::invite(call, &input)?)
    }

    /// Consent to the invitation of a person, or refuse it.
    #[action(access = write, idempotent, emits = [MEMBER_CHANGED],
        intents = intents::CONSENT, example = json!({
            "thread_id": THREAD_ID, "owner_id": OWNER_ID, "agree": true,
        }))]
    fn consent(call: &Call, input: Consent) -> Result<ThreadView, ConversationError> {
        shown(call, members::consent(call, &input)?)
    }

    /// Accept an invitation.
    #[action(
        access = write, emits = [MEMBER_CHANGED], example = json!({ "thread_id": THREAD_ID }),
        intents = intents::ACCEPT, person_page = person_page::accept()
    )]
    fn accept(call: &Call, input: Step) -> Result<ThreadView, ConversationError> {
        shown(call, members::accept(call, &input)?)
    }

    /// Decline an invitation.
    #[action(
        access = write, emits = [MEMBER_CHANGED], example = json!({ "thread_id": THREAD_ID }),
        intents = intents::DECLINE, person_page = person_page::decline()
    )]
    fn decline(call: &Call, input: Step) -> Result<LeftThread, ConversationError> {
        left_thread(call, &members::decline(call, &input)?)
    }

    /// Leave a conversation.
    ///
    /// It disappears from the person's list; the others stay in it.
    #[action(
        access = write, destructive, emits = [MEMBER_CHANGED], example = json!({ "thread_id": THREAD_ID }),
        intents = intents::LEAVE, person_page = person_page::leave()
    )]
    fn leave(call: &Call, input: Step) -> Result<LeftThread, ConversationError> {
        left_thread(call, &members::leave(call, &input)?)
    }

    /// Remove a person from a conversation, or withdraw their invitation.
    ///
    /// Only people for whom the conversation was opened can do this, and only to people invited later.
    #[action(
        access = write, destructive, emits = [MEMBER_CHANGED], example = json!({ "thread_id": THREAD_ID, "owner_id": OWNER_ID }),
        intents = intents::REMOVE
    )]
    fn remove(call: &Call, input: MemberStep) -> Result<ThreadView, ConversationError> {
        shown(call, members::remove(call, &input)?)
    }

    /// Close a conversation for everybody, for good.
    ///
    /// It can still be read. Only people for whom the conversation was opened can do this; others leave it.
    #[action(
        access = write, destructive, emits = [CLOSED], example = json!({ "thread_id": THREAD_ID }),
        intents = intents::CLOSE
    )]
    fn close(call: &Call, input: Step) -> Result<ThreadView, ConversationError> {
        shown(call, threads::close(call, &input)?)
    }

    /// Open a conversation for a pairing, an application or an introduction, or return the existing one.
    ///
    /// With `replace_closed`, one that is closed is replaced by a new one.
    #[action(
        access = internal,
        consequence = portolan_sdk::Consequence::of("message"),
        callers = ["applications", "intros", "pairings"], idempotent)]
    fn open(call: &Call, input: Open) -> Result<Opened, ConversationError> {
        threads::open(call, input)
    }

    /// Write a message as one of the participants.
    #[action(
        access = internal,
        consequence = portolan_sdk::Consequence::of("message"),
        callers = ["pairings"], emits = [WRITTEN])]
    fn post(call: &Call, input: Post) -> Result<Posted, ConversationError> {
        send::post(call, input)
    }

    /// Return to another capability how one of the participants sees a conversation.
    #[action(access = internal, callers = ["applications", "intros", "pairings", "thread_meetings"], idempotent)]
    fn thread(_call: &Call, input: ThreadQuery) -> Result<api::Thread, ConversationError> {
        threads::thread(&input)
    }

    /// Close a conversation when its subject ends.
    #[action(access = internal, callers = ["applications", "pairings"], idempotent, emits = [CLOSED])]
    fn end(call: &Call, input: End) -> Result<(), ConversationError> {
        threads::end(call, &input)
    }

    /// Remove a message.
    #[action(access = internal, destructive, emits = [WRITTEN])]
    fn remove_message(_call: &Call, input: RemoveMessage) -> Result<(), ConversationError> {
        send::remove(input)
    }

    /// Block all messages in a conversation until it is reinstated.
    #[action(access = internal)]
    fn suspend(_call: &Call, input: ThreadId) -> Result<(), ConversationError> {
        threads::moderate(&input.thread_id, "suspend")
    }

    /// Allow messages in a conversation again.
    #[action(access = internal)]
    fn reinstate(_call: &Call, input: ThreadId) -> Result<(), ConversationError> {
        threads::moderate(&input.thread_id, "reinstate")
    }

    /// Archive a conversation in which nobody has written for 180 days.
    #[action(access = internal, idempotent)]
    fn rest(call: &Call, input: ThreadId) -> Result<(), ConversationError> {
        threads::archive_if_idle(call, &input.thread_id)
    }

    /// Allow contact data in messages from now on, because both sides have disclosed it.
    #[action(access = internal, callers = ["pairings"], idempotent)]
    fn allow_contact_data(_call: &Call, input: ContactAllowed) -> Result<(), ConversationError> {
        threads::contact_exchanged(&input.thread_id)
    }

    /// Allow contact data in messages of people who have exchanged it for an application, or after an
    /// introduction.
    #[action(
        access = internal, idempotent,
        on = "application.contact_exchanged", on = "intro.contact_exchanged"
    )]
    fn on_contact_exchanged(
        _call: &Call,
        event: Happened<Exchanged>,
    ) -> Result<(), ConversationError> {
        match &event.data.thread_id {
            Some(thread_id) => threads::contact_exchanged(thread_id),
            None => Ok(()),
        }
    }

    /// Update the stored relations of two people after a block or its end.
    #[action(
        access = internal, idempotent,
        on = "relationship.blocked", on = "relationship.unblocked"
    )]
    fn on_block_changed(call: &Call, event: Happened<Blocked>) -> Result<(), ConversationError> {
        colleagues::block_changed(call, &event.data)?;
        acceptance::block_changed(&event.data)
    }

    /// Let those take part who act for an organisation by now, and nobody else of it.
    #[action(access = internal, idempotent, on = "org.member_changed", on = "org.archived")]
    fn on_org_changed(call: &Call, event: Happened<OrgRound>) -> Result<(), ConversationError> {
        colleagues::org_changed(call, event.data)
    }

    /// Continue to update the threads of an organisation.
    #[action(access = internal, idempotent)]
    fn go_on_for_org(call: &Call, input: OrgRound) -> Result<(), ConversationError> {
        colleagues::org_changed(call, input)
    }

    /// Update the stored relations of a person who now accepts messages, or no longer does.
    #[action(
        access = internal, idempotent,
        on = "owner.updated", on = "owner.deactivated", on = "owner.reactivated"
    )]
    fn on_person_changed(call: &Call, event: Happened<Changed>) -> Result<(), ConversationError> {
        let owner_id = event.subject.trim_start_matches("owners/").to_owned();
        let updated = event.event_type == "owner.updated";
        if !updated || event.data.changed.iter().any(|changed| changed == "preferences") {
            acceptance::person_changed(call, Round { owner_id, cursor: None })?;
        }
        Ok(())
    }

    /// Continue to update stored relations.
    #[action(access = internal, idempotent)]
    fn go_on(call: &Call, input: Round) -> Result<(), ConversationError> {
        acceptance::person_changed(call, input)
    }
}

/// Returns a thread as the caller sees it now.
fn shown(call: &Call, thread: Stored<Thread>) -> Result<ThreadView> {
    views::thread(call.now(), call.require_owner()?, thread)
}

/// Returns the caller's former membership in a thread.
fn left_thread(call: &Call, thread: &Stored<Thread>) -> Result<LeftThread> {
    let not_found = || refusals::refused(ErrorCode::NotFound, "No such part.", &thread.id);
    let member = thread.value.member(call.require_owner()?).ok_or_else(not_found)?;
    Ok(view!(member => LeftThread { owner_id, membership; thread_id: thread.id.clone() }))
}

const THREAD_ID: &str = "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const MESSAGE_ID: &str = "msg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OWNER_ID: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
