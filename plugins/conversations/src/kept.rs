//! What is kept: threads, everybody's seat in them, and messages.

use crate::{life::*, refusals::*};
use people_kit::threads::{Intent, ThreadError, ThreadState};
use portolan_sdk::prelude::*;

/// People in a thread at once, those who are invited among them.
pub(crate) const MOST_MEMBERS: usize = 20;
/// People who were ever invited to one thread.
pub(crate) const MOST_EVER: usize = 100;
/// After a message was sent, its text may be changed for so long.
pub(crate) const EDIT_WINDOW: u64 = 15 * MINUTE;
/// A thread in which nobody writes for so long is archived.
pub(crate) const IDLE: u64 = 180 * DAY;
/// Who has declined or left is not invited again for so long.
pub(crate) const REST: u64 = 30 * DAY;

/// It counts the messages: whoever writes one writes the thread, so that no two get the same number
/// and none is left out.
pub(crate) const THREADS: Collection<Thread> = Collection::new("threads")
    .unique("pairing_id", &["pairing_id"])
    .index("member", &["members[].owner_id"]);

pub(crate) const SEATS: Collection<Seat> = Collection::new("seats")
    .index("list", &["owner_id", "place", "active_at"])
    .index("unread", &["unread"]);

pub(crate) const MESSAGES: Collection<Message> = Collection::new("messages")
    .index("thread", &["thread_id", "seq"])
    .index("owner", &["owner_id"])
    .unique("sent_as", &["sent_as"]);

#[document]
#[entity(
    kind = "thread", collection = THREADS,
    not_found = ConversationError::Thread(ThreadError::ThreadNotFound)
)]
pub(crate) struct Thread {
    pub(crate) pairing_id: String,
    pub(crate) category: Option<String>,
    pub(crate) state: ThreadState,
    /// Everybody who takes part, or ever did or was to.
    pub(crate) members: Vec<Member>,
    /// The number of the last message; 0 before the first.
    pub(crate) last_seq: u64,
    pub(crate) last_message_id: Option<String>,
    /// Those for whom it was opened have disclosed to each other how to be reached.
    #[serde(default)]
    pub(crate) contact_exchanged: bool,
    /// When somebody last wrote, in milliseconds.
    pub(crate) active_at: u64,
    pub(crate) close_reason: Option<String>,
}

#[document]
pub(crate) struct Member {
    pub(crate) owner_id: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) membership: Membership,
    /// When this membership began, in milliseconds.
    pub(crate) since: u64,
    /// None for those whom the thread was opened for.
    pub(crate) invited_by: Option<String>,
    /// Who has consented to the invitation.
    #[serde(default)]
    pub(crate) consents: Vec<String>,
    /// The last message before they joined: they see those after it.
    #[serde(default)]
    pub(crate) joined_after: u64,
}

/// What a thread is to one of its people. What others must not notice is here, and not in the
/// thread, whose version they see.
#[document]
pub(crate) struct Seat {
    pub(crate) thread_id: String,
    pub(crate) owner_id: String,
    pub(crate) place: Place,
    /// When somebody last wrote in the thread.
    pub(crate) active_at: u64,
    /// Messages of others after the one that was read last.
    pub(crate) unread: u64,
    pub(crate) receipt: Marks,
    /// As far as others know.
    pub(crate) told: Marks,
    #[serde(default)]
    pub(crate) muted: bool,
    /// Without it, a mute has no end.
    pub(crate) muted_until: Option<u64>,
}

/// How far somebody has come; it never goes back.
#[document(Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) delivered: u64,
    pub(crate) read: u64,
}

#[choice]
pub(crate) enum Place {
    Inbox,
    Archive,
    /// The person takes no part any more.
    Gone,
}

#[document]
#[entity(
    kind = "message", collection = MESSAGES, not_found = ConversationError::MessageNotFound
)]
pub(crate) struct Message {
    pub(crate) thread_id: String,
    pub(crate) seq: u64,
    pub(crate) owner_id: String,
    /// None if the person wrote it themselves.
    pub(crate) agent_id: Option<String>,
    /// Never delivered or read: these follow from receipts.
    pub(crate) state: MessageState,
    pub(crate) text: Option<String>,
    pub(crate) intent: Intent,
    pub(crate) reply_to: Option<String>,
    /// Thread, person and the id that the person's agent has given it.
    pub(crate) sent_as: Option<String>,
    /// A mark of what was sent under that id, which outlives the text.
    pub(crate) sent_mark: Option<Vec<u8>>,
    pub(crate) sent_at: u64,
    pub(crate) edited_at: Option<u64>,
    /// Why it was removed.
    pub(crate) reason: Option<String>,
}

impl Thread {
    pub(crate) fn member(&self, owner_id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.owner_id == owner_id)
    }

    pub(crate) fn member_mut(&mut self, owner_id: &str) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.owner_id == owner_id)
    }

    pub(crate) fn joined(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.membership == Membership::Joined)
    }

    /// Those who take part beside this person.
    pub(crate) fn others<'a>(&'a self, owner_id: &'a str) -> impl Iterator<Item = &'a Member> {
        self.joined().filter(move |member| member.owner_id != owner_id)
    }

    /// Whether contact data may pass: only between those who have exchanged it.
    pub(crate) fn takes_contact_data(&self) -> bool {
        self.contact_exchanged && self.joined().all(Member::is_founder)
    }
}

impl Visible for Thread {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.member(owner_id).is_some_and(|member| member.membership.sees())
    }
}

impl Member {
    /// Whether the thread was opened for them.
    pub(crate) fn is_founder(&self) -> bool {
        self.invited_by.is_none()
    }
}

impl Seat {
    pub(crate) fn new(thread_id: &str, owner_id: &str, active_at: u64) -> Self {
        Self {
            thread_id: thread_id.to_owned(),
            owner_id: owner_id.to_owned(),
            place: Place::Inbox,
            active_at,
            unread: 0,
            receipt: Marks::default(),
            told: Marks::default(),
            muted: false,
            muted_until: None,
        }
    }

    pub(crate) fn is_muted(&self, now: u64) -> bool {
        self.muted && self.muted_until.is_none_or(|until| until > now)
    }
}

pub(crate) fn seat_id(thread_id: &str, owner_id: &str) -> String {
    format!("{thread_id}/{owner_id}")
}

/// The seats of these people, of those who have one.
pub(crate) fn seats<'a>(
    thread_id: &str,
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Stored<Seat>>> {
    let ids = owner_ids.into_iter().map(|owner_id| seat_id(thread_id, owner_id));
    Ok(SEATS.get_many(ids)?.into_iter().flatten().collect())
}
