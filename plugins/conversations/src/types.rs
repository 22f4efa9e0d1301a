//! Inputs, outputs and events.

use crate::states::*;
use people_kit::patterns::{MESSAGE_ID, OWNER_ID, THREAD_ID};
use people_kit::threads::{Intent, ThreadState};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "conversations";

/// The conversation's id, `thr_` and a ULID.
#[id(pattern = THREAD_ID)]
pub(crate) struct Id(String);

/// The message's id, `msg_` and a ULID.
#[id(pattern = MESSAGE_ID)]
pub(crate) struct MessageRef(String);

/// An event of a conversation.
pub(crate) type ThreadEvent = Event<Data<Facts>>;

pub(crate) const WRITTEN: ThreadEvent = Event::new("conversation.message");
pub(crate) const READ: ThreadEvent = Event::new("conversation.read");
pub(crate) const MEMBER_CHANGED: ThreadEvent = Event::new("conversation.member_changed");
pub(crate) const CLOSED: ThreadEvent = Event::new("conversation.closed");

#[choice]
pub(crate) enum Happening {
    Sent,
    Edited,
    Retracted,
    Removed,
}

/// The data of the events of a conversation. Each event has some of it, and none has a message's
/// text, because a retracted text must not stay in inboxes.
#[output(Clone, Default)]
pub(crate) struct Facts {
    pub(crate) thread_id: String,
    pub(crate) message_id: Option<String>,
    pub(crate) seq: Option<u64>,
    pub(crate) change: Option<Happening>,
    /// The person whose membership has changed.
    pub(crate) owner_id: Option<String>,
    pub(crate) membership: Option<Membership>,
    /// Why the conversation is closed.
    pub(crate) reason: Option<String>,
    /// The pairing of a conversation that is closed.
    pub(crate) pairing_id: Option<String>,
}

/// The part of `application.contact_exchanged` that is read.
#[input]
pub(crate) struct Exchanged {
    #[serde(default)]
    pub(crate) thread_id: Option<String>,
}

/// The part of `relationship.blocked` and `relationship.unblocked` that is read.
#[input]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// The part of the events of a person's record that is read.
#[input]
pub(crate) struct Changed {
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

/// The input of `go_on`: the person whose threads to update, and the page to continue with.
#[input]
pub(crate) struct Round {
    pub(crate) owner_id: String,
    pub(crate) cursor: Option<String>,
}

/// The part of the events of an organisation that is read; with a cursor, the input of
/// `go_on_for_org`.
#[input]
pub(crate) struct OrgRound {
    pub(crate) org_id: String,
    pub(crate) cursor: Option<String>,
}

#[input]
pub(crate) struct ThreadId {
    pub(crate) thread_id: Id,
}

#[input(Default)]
pub(crate) struct List {
    /// The state, as you see it, of the conversations to return. Omit this field to get
    /// conversations in all states.
    pub(crate) state: Option<ThreadState>,
    /// Whether to return only conversations with messages that you have not read.
    #[serde(default)]
    pub(crate) unread_only: bool,
    /// Whether to return the conversations in your archive instead of the others.
    #[serde(default)]
    pub(crate) archived: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Messages {
    pub(crate) thread_id: Id,
    /// A message's `seq`: only messages with a smaller one are returned.
    pub(crate) before: Option<u64>,
    /// A message's `seq`: only messages with a greater one are returned, the oldest first. Without
    /// this field, the newest come first.
    pub(crate) after: Option<u64>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Send {
    pub(crate) thread_id: Id,
    /// The plain text. It may contain e-mail addresses and phone numbers once both sides have
    /// disclosed theirs.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    /// An id of your own for this message. If the same message is sent again with the same id, it
    /// is not stored twice. The id never expires.
    #[schemars(regex(pattern = "^[!-~]{1,64}$"))]
    pub(crate) client_msg_id: Option<String>,
    /// The message of this conversation to which it replies.
    pub(crate) reply_to: Option<MessageRef>,
    /// The purpose of the message.
    #[serde(default)]
    pub(crate) intent: Intent,
}

#[input]
pub(crate) struct MessageId {
    pub(crate) message_id: MessageRef,
}

#[input]
pub(crate) struct Edit {
    pub(crate) message_id: MessageRef,
    /// The new text.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Retract {
    pub(crate) message_id: MessageRef,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct RemoveMessage {
    pub(crate) message_id: MessageRef,
    /// The reason, which its sender reads.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) reason: String,
}

#[input]
pub(crate) struct Mark {
    pub(crate) thread_id: Id,
    /// The last message of those that are confirmed.
    pub(crate) up_to_message_id: MessageRef,
}

#[input]
pub(crate) struct Mute {
    pub(crate) thread_id: Id,
    /// When the mute ends (RFC 3339); without it, the mute lasts until `unmute`.
    #[schemars(extend("format" = "date-time"), length(max = 40))]
    pub(crate) until: Option<String>,
}

#[input]
pub(crate) struct Step {
    pub(crate) thread_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct MemberStep {
    pub(crate) thread_id: Id,
    /// The person's id: `own_` and a ULID.
    #[schemars(regex(pattern = OWNER_ID))]
    pub(crate) owner_id: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Consent {
    #[serde(flatten)]
    pub(crate) someone: MemberStep,
    /// Whether to consent. If false, the person is not invited.
    pub(crate) agree: bool,
}

impl MemberStep {
    pub(crate) fn step(&self) -> Step {
        Step { thread_id: self.thread_id.clone(), expected_version: self.expected_version }
    }
}
