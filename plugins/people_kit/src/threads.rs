//! Conversations between people, which other capabilities open, write in and close: calls of
//! `conversations`.

use crate::{patterns, text::TextError};
use portolan_sdk::{prelude::*, states::StateConflict};
use std::collections::BTreeMap;

/// The state of a conversation, as one of its participants sees it.
#[choice(States)]
pub enum ThreadState {
    Open,
    /// Not everybody in it accepts messages from this participant now, or the operator has
    /// suspended it. Participants are not told which of the two, and why.
    Frozen,
    /// It is closed for good. It can still be read.
    Closed,
    /// It had no message for a long time. The next message opens it again.
    Archived,
}

/// The purpose of a message.
#[choice(Default)]
pub enum Intent {
    #[default]
    Chat,
    Question,
    Answer,
    Proposal,
}

/// A person for whom a conversation is opened.
#[message]
#[serde(deny_unknown_fields)]
pub struct Participant {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    /// The agent that acts for them in it, if it is known.
    #[schemars(length(min = 1, max = 40))]
    pub agent_id: Option<String>,
    /// The organisation for which they stand: everybody who acts in its name takes part too.
    #[schemars(length(min = 1, max = 40))]
    pub org_id: Option<String>,
}

/// The input of `conversations open`.
#[message]
pub struct Open {
    /// The pairing, the application or the introduction that connected them; there is one open
    /// conversation for each.
    #[schemars(length(min = 1, max = 40))]
    pub pairing_id: String,
    /// The participants, who are different people.
    #[schemars(length(min = 2, max = 20))]
    pub participants: Vec<Participant>,
    /// The category, as a code of `listing_taxonomy`.
    #[schemars(length(min = 1, max = 64))]
    pub category: Option<String>,
    /// Whether a new conversation replaces the last one if that is closed.
    #[serde(default)]
    pub replace_closed: bool,
}

/// The output of `conversations open`.
#[message]
pub struct Opened {
    pub thread_id: String,
}

/// The input of `conversations post`.
#[message]
pub struct Post {
    #[schemars(regex(pattern = patterns::THREAD_ID))]
    pub thread_id: String,
    /// The person who writes it.
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    /// The agent that writes it for them. Without one, the person wrote it themselves.
    #[schemars(length(min = 1, max = 40))]
    pub agent_id: Option<String>,
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
    #[serde(default)]
    pub intent: Intent,
}

/// The output of `conversations post`.
#[message]
pub struct Posted {
    pub message_id: String,
    pub seq: u64,
}

/// The input of `conversations thread`.
#[message]
pub struct ThreadQuery {
    #[schemars(regex(pattern = patterns::THREAD_ID))]
    pub thread_id: String,
    /// The participant whose view is returned.
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
}

/// The output of `conversations thread`.
#[message]
pub struct Thread {
    pub thread_id: String,
    pub state: ThreadState,
    /// The ids of the current participants, including `owner_id`.
    pub participants: Vec<String>,
    /// The organisations for which participants take part, by the ids of these.
    #[serde(default)]
    pub orgs: BTreeMap<String, String>,
    pub pairing_id: String,
    /// When the last message was sent, in milliseconds since the Unix epoch.
    pub active_at: u64,
}

/// The input of `conversations end`.
#[message]
pub struct End {
    #[schemars(regex(pattern = patterns::THREAD_ID))]
    pub thread_id: String,
    /// The reason, as a word that participants read, such as `hired`.
    #[schemars(regex(pattern = "^[a-z][a-z_]{0,39}$"))]
    pub reason: String,
}

/// The input of `conversations allow_contact_data`.
#[message]
pub struct ContactAllowed {
    #[schemars(regex(pattern = patterns::THREAD_ID))]
    pub thread_id: String,
}

/// Why a conversation is not found, or accepts no message.
#[derive(Debug, Refusals)]
pub enum ThreadError {
    /// There is no such conversation, or you take no part in it.
    #[refusal(not_found, next = list())]
    ThreadNotFound,
    /// This conversation is closed: it can be read, but nobody can write in it any more.
    #[refusal(
        conflict,
        conflict_detail = StateConflict::new("closed", allowed_actions),
        next = get(thread_id)
    )]
    ThreadClosed { thread_id: String, allowed_actions: Vec<&'static str> },
    /// The message is not accepted: not everybody in this conversation accepts messages from you
    /// now.
    #[refusal(conflict, next = list())]
    RecipientNotAccepting,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

fn list() -> Next {
    Next::action("conversations", "list")
}

fn get(thread_id: String) -> Next {
    Next::action("conversations", "get").field("thread_id", thread_id)
}

pub const OPEN: Invocation<Open, Opened> = Invocation::new("conversations", "open");
pub const POST: Invocation<Post, Posted> = Invocation::new("conversations", "post");
pub const THREAD: Invocation<ThreadQuery, Thread> = Invocation::new("conversations", "thread");
pub const END: Invocation<End, ()> = Invocation::new("conversations", "end");
pub const ALLOW_CONTACT_DATA: Invocation<ContactAllowed, ()> =
    Invocation::new("conversations", "allow_contact_data");

/// Opens a conversation, or returns the existing one of this pairing.
pub fn open(input: &Open) -> Result<Opened, ThreadError> {
    OPEN.call(input).map_err(ThreadError::Common)
}

/// Writes a message as one of the participants.
pub fn post(input: &Post) -> Result<Posted, ThreadError> {
    POST.call(input).map_err(ThreadError::Common)
}

/// Returns a conversation as one of its participants sees it; refuses everybody else with
/// `thread_not_found`.
pub fn thread(thread_id: &str, owner_id: &str) -> Result<Thread, ThreadError> {
    let query = ThreadQuery { thread_id: thread_id.to_owned(), owner_id: owner_id.to_owned() };
    THREAD.call(&query).map_err(ThreadError::Common)
}

/// Closes a conversation; it has no effect if it is closed already.
pub fn end(thread_id: &str, reason: &str) -> Result<(), ThreadError> {
    let end = End { thread_id: thread_id.to_owned(), reason: reason.to_owned() };
    END.call(&end).map_err(ThreadError::Common)
}

/// Allows contact data in the messages of a conversation from now on, because both sides have disclosed
/// it.
pub fn allow_contact_data(thread_id: &str) -> Result<(), ThreadError> {
    let allowed = ContactAllowed { thread_id: thread_id.to_owned() };
    ALLOW_CONTACT_DATA.call(&allowed).map_err(ThreadError::Common)
}
