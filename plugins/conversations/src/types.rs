//! Inputs, outputs and events.

use crate::life::Membership;
use people_kit::{
    patterns::{MESSAGE_ID, OWNER_ID, THREAD_ID},
    threads::{Intent, ThreadState},
};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "conversations";
const THREAD: &str = "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const MESSAGE: &str = "msg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

pub(crate) const WRITTEN: Event<Data<Written>> = Event::new("conversation.message");
pub(crate) const READ: Event<Data<Noticed>> = Event::new("conversation.read");
pub(crate) const MEMBER_CHANGED: Event<Data<Moved>> = Event::new("conversation.member_changed");
pub(crate) const CLOSED: Event<Data<Ended>> = Event::new("conversation.closed");

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Happening {
    Sent,
    Edited,
    Retracted,
    Removed,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Written {
    pub(crate) thread_id: String,
    pub(crate) message_id: String,
    pub(crate) seq: u64,
    pub(crate) change: Happening,
    /// Not there if it is gone, or holds contact data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Noticed {
    pub(crate) thread_id: String,
    pub(crate) message_id: String,
    pub(crate) seq: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Moved {
    pub(crate) thread_id: String,
    /// Whose membership it is.
    pub(crate) owner_id: String,
    pub(crate) membership: Membership,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ended {
    pub(crate) thread_id: String,
    pub(crate) reason: String,
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
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Round {
    pub(crate) owner_id: String,
    pub(crate) cursor: Option<String>,
}

#[input]
pub(crate) struct ThreadId {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
}

impl ThreadId {
    pub(crate) fn example() -> Self {
        Self { thread_id: THREAD.into() }
    }
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
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    /// Messages with a smaller `seq` than this one.
    pub(crate) before: Option<u64>,
    /// Messages with a greater `seq` than this one, the oldest first.
    pub(crate) after: Option<u64>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

impl Messages {
    pub(crate) fn example() -> Self {
        let page = PageInput::default();
        Self { thread_id: THREAD.into(), before: None, after: Some(41), page }
    }
}

#[input]
pub(crate) struct Send {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    /// Plain text. E-mail addresses and phone numbers pass once both sides have disclosed theirs.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    /// An id of your own for this message: sent again with the same one, it is not written twice.
    /// It is never forgotten.
    #[schemars(regex(pattern = "^[!-~]{1,64}$"))]
    pub(crate) client_msg_id: Option<String>,
    /// The message of this conversation that it answers.
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) reply_to: Option<String>,
    /// What the message is meant to be.
    #[serde(default)]
    pub(crate) intent: Intent,
}

impl Send {
    pub(crate) fn example() -> Self {
        Self {
            thread_id: THREAD.into(),
            text: "Would Thursday at six suit you?".into(),
            client_msg_id: Some("m-1".into()),
            reply_to: None,
            intent: Intent::Question,
        }
    }
}

#[input]
pub(crate) struct MessageId {
    /// The message's id, `msg_` and a ULID.
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) message_id: String,
}

impl MessageId {
    pub(crate) fn example() -> Self {
        Self { message_id: MESSAGE.into() }
    }
}

#[input]
pub(crate) struct Edit {
    /// The message's id, `msg_` and a ULID.
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) message_id: String,
    /// The text in place of the one before.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    pub(crate) expected_version: Option<Version>,
}

impl Edit {
    pub(crate) fn example() -> Self {
        let text = "Would Friday at six suit you?".into();
        Self { message_id: MESSAGE.into(), text, expected_version: None }
    }
}

#[input]
pub(crate) struct Retract {
    /// The message's id, `msg_` and a ULID.
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) message_id: String,
    pub(crate) expected_version: Option<Version>,
}

impl Retract {
    pub(crate) fn example() -> Self {
        Self { message_id: MESSAGE.into(), expected_version: None }
    }
}

#[input]
pub(crate) struct RemoveMessage {
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) message_id: String,
    /// Its sender reads it.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) reason: String,
}

#[input]
pub(crate) struct Mark {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    /// This message, and all before it.
    #[schemars(regex(pattern = MESSAGE_ID))]
    pub(crate) up_to_message_id: String,
}

impl Mark {
    pub(crate) fn example() -> Self {
        Self { thread_id: THREAD.into(), up_to_message_id: MESSAGE.into() }
    }
}

#[input]
pub(crate) struct Mute {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    /// RFC 3339: until when; without it, until you take it back.
    #[schemars(extend("format" = "date-time"), length(max = 40))]
    pub(crate) until: Option<String>,
}

impl Mute {
    pub(crate) fn example() -> Self {
        Self { thread_id: THREAD.into(), until: Some("2036-11-21T18:00:00.000Z".into()) }
    }
}

#[input]
pub(crate) struct Step {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    pub(crate) expected_version: Option<Version>,
}

impl Step {
    pub(crate) fn example() -> Self {
        Self { thread_id: THREAD.into(), expected_version: None }
    }
}

#[input]
pub(crate) struct Someone {
    /// The conversation's id, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
    /// Whom: the person's id, `own_` and a ULID.
    #[schemars(regex(pattern = OWNER_ID))]
    pub(crate) owner_id: String,
    pub(crate) expected_version: Option<Version>,
}

impl Someone {
    pub(crate) fn example() -> Self {
        Self { thread_id: THREAD.into(), owner_id: OWNER.into(), expected_version: None }
    }

    /// The thread, without whom.
    pub(crate) fn step(&self) -> Step {
        Step { thread_id: self.thread_id.clone(), expected_version: self.expected_version }
    }
}

#[input]
pub(crate) struct Consent {
    #[serde(flatten)]
    pub(crate) someone: Someone,
    /// False means that the person is not invited.
    pub(crate) agree: bool,
}

impl Consent {
    pub(crate) fn example() -> Self {
        Self { someone: Someone::example(), agree: true }
    }
}
