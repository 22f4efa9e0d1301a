//! Inputs, outputs and events.

use crate::life::*;
use people_kit::{
    patterns::{MESSAGE_ID, OWNER_ID, THREAD_ID},
    threads::{Intent, ThreadState},
};
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

/// What the events of a conversation say, each of them a part.
#[output(Clone, Default)]
pub(crate) struct Facts {
    pub(crate) thread_id: String,
    pub(crate) message_id: Option<String>,
    pub(crate) seq: Option<u64>,
    pub(crate) change: Option<Happening>,
    /// Not there if it is gone, or holds contact data.
    pub(crate) text: Option<String>,
    pub(crate) trust: Option<&'static str>,
    /// Whose membership has changed.
    pub(crate) owner_id: Option<String>,
    pub(crate) membership: Option<Membership>,
    /// Why the conversation is closed.
    pub(crate) reason: Option<String>,
}

/// Only the part of it that is read here.
#[input]
pub(crate) struct Exchanged {
    #[serde(default)]
    pub(crate) thread_id: Option<String>,
}

/// Only the part of it that is read here.
#[input]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// Only the part of it that is read here.
#[input]
pub(crate) struct Changed {
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

/// The input of the timers.
#[input]
pub(crate) struct Round {
    pub(crate) owner_id: String,
    pub(crate) cursor: Option<String>,
}

#[input]
pub(crate) struct ThreadId {
    pub(crate) thread_id: Id,
}

#[input(Default)]
pub(crate) struct List {
    /// In this state only, as you see it.
    pub(crate) state: Option<ThreadState>,
    /// Only those with messages that you have not read.
    #[serde(default)]
    pub(crate) unread_only: bool,
    /// Those that you have put into your archive, instead of the others.
    #[serde(default)]
    pub(crate) archived: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Messages {
    pub(crate) thread_id: Id,
    /// Messages with a smaller `seq` than this one.
    pub(crate) before: Option<u64>,
    /// Messages with a greater `seq` than this one, the oldest first.
    pub(crate) after: Option<u64>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Send {
    pub(crate) thread_id: Id,
    /// Plain text. E-mail addresses and phone numbers pass once both sides have disclosed theirs.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    /// An id of your own for this message: sent again with the same one, it is not written twice.
    /// It is never forgotten.
    #[schemars(regex(pattern = "^[!-~]{1,64}$"))]
    pub(crate) client_msg_id: Option<String>,
    /// The message of this conversation that it answers.
    pub(crate) reply_to: Option<MessageRef>,
    /// What the message is meant to be.
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
    /// The text in place of the one before.
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
    /// Its sender reads it.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) reason: String,
}

#[input]
pub(crate) struct Mark {
    pub(crate) thread_id: Id,
    /// This message, and all before it.
    pub(crate) up_to_message_id: MessageRef,
}

#[input]
pub(crate) struct Mute {
    pub(crate) thread_id: Id,
    /// RFC 3339: until when; without it, until you take it back.
    #[schemars(extend("format" = "date-time"), length(max = 40))]
    pub(crate) until: Option<String>,
}

#[input]
pub(crate) struct Step {
    pub(crate) thread_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Someone {
    pub(crate) thread_id: Id,
    /// Whom: the person's id, `own_` and a ULID.
    #[schemars(regex(pattern = OWNER_ID))]
    pub(crate) owner_id: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Consent {
    #[serde(flatten)]
    pub(crate) someone: Someone,
    /// False means that the person is not invited.
    pub(crate) agree: bool,
}

impl Someone {
    /// The thread, without whom.
    pub(crate) fn step(&self) -> Step {
        Step { thread_id: self.thread_id.clone(), expected_version: self.expected_version }
    }
}
