//! The stored documents: threads, the seat of each person in them, and messages.

use crate::{refusals::*, states::*};
use people_kit::threads::{Intent, ThreadError, ThreadState};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Shared};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of people in a thread at once, including the invited ones.
pub(crate) const MOST_MEMBERS: usize = 20;
/// The maximum number of people who were ever invited to one thread.
pub(crate) const MOST_EVER: usize = 100;
/// The time after sending in which a message's text may be changed.
pub(crate) const EDIT_WINDOW: u64 = 15 * MINUTE;
/// A thread is archived after this time without a message.
pub(crate) const IDLE: u64 = 180 * DAY;
/// The cooldown after a person has declined or left, in which they are not invited again.
pub(crate) const COOLDOWN: u64 = 30 * DAY;

/// The threads. Each counts its messages: every new message also writes the thread, so that numbers
/// are unique and without gaps.
pub(crate) const THREADS: Collection<Thread> = Collection::new("threads")
    .people(&[
        Person::remove("members[].owner_id"),
        Person::redact("members[].agent_id", &[]),
        Person::redact("members[].invited_by", &[]),
        Person::remove("members[].consents[]"),
    ])
    .unique("pairing_id", &["pairing_id", "generation"])
    .index("member", &["members[].owner_id"])
    .index("org", &["members[].org_id"]);

pub(crate) const SEATS: Collection<Seat> = Collection::new("seats")
    .people(&[Person::delete("$id"), Person::delete("owner_id")])
    .index("list", &["owner_id", "place", "active_at"])
    .index("unread", &["unread"]);

pub(crate) const MESSAGES: Collection<Message> = Collection::new("messages")
    .people(&[
        Person::redact("owner_id", &[Shared("text"), Personal("sent_mark")]),
        Person::redact("agent_id", &[]),
    ])
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
    /// The number of closed threads of the pairing or application that it replaces.
    #[serde(default)]
    pub(crate) generation: u32,
    pub(crate) category: Option<String>,
    pub(crate) state: ThreadState,
    /// All current, former and proposed members.
    pub(crate) members: Vec<Member>,
    /// The number of the last message; 0 before the first.
    pub(crate) last_seq: u64,
    pub(crate) last_message_id: Option<String>,
    /// Whether the people for whom it was opened have exchanged contact data.
    #[serde(default)]
    pub(crate) contact_exchanged: bool,
    /// When the last message was sent, in milliseconds.
    pub(crate) active_at: u64,
    pub(crate) close_reason: Option<String>,
}

#[document(Default)]
pub(crate) struct Member {
    pub(crate) owner_id: String,
    pub(crate) agent_id: Option<String>,
    /// The organisation for which the member takes part, while they act in its name.
    pub(crate) org_id: Option<String>,
    pub(crate) membership: Membership,
    /// When `membership` last changed, in milliseconds.
    pub(crate) since: u64,
    /// The member who invited this one; `None` for people for whom the thread was opened.
    pub(crate) invited_by: Option<String>,
    /// The members who have consented to the invitation.
    #[serde(default)]
    pub(crate) consents: Vec<String>,
    /// The number of the last message before the person joined: they see only later ones.
    #[serde(default)]
    pub(crate) joined_after: u64,
}

/// A person's own data about a thread. Facts that others must not notice are stored here and not in
/// the thread, whose version they see.
#[document(Default)]
pub(crate) struct Seat {
    pub(crate) thread_id: String,
    pub(crate) owner_id: String,
    pub(crate) place: Place,
    /// When the last message was sent in the thread.
    pub(crate) active_at: u64,
    /// The number of unread messages of others.
    pub(crate) unread: u64,
    pub(crate) receipt: Marks,
    /// The marks that others see.
    pub(crate) told: Marks,
    #[serde(default)]
    pub(crate) muted: bool,
    /// When the mute ends; without it, the mute has no end.
    pub(crate) muted_until: Option<u64>,
}

/// How far a person has received and read the messages. Marks never go back.
#[document(Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) delivered: u64,
    pub(crate) read: u64,
}

#[choice(Default)]
pub(crate) enum Place {
    #[default]
    Inbox,
    Archive,
    /// The person no longer takes part.
    Gone,
}

#[document(Default)]
#[entity(
    kind = "message", collection = MESSAGES, not_found = ConversationError::MessageNotFound
)]
pub(crate) struct Message {
    pub(crate) thread_id: String,
    pub(crate) seq: u64,
    pub(crate) owner_id: String,
    /// The agent that wrote it; `None` if the person wrote it themselves.
    pub(crate) agent_id: Option<String>,
    /// The stored state. It is never `delivered` or `read`: these follow from receipts.
    pub(crate) state: MessageState,
    pub(crate) text: Option<String>,
    pub(crate) intent: Intent,
    pub(crate) reply_to: Option<String>,
    /// The MAC of the thread, the person, and the id that the person's agent gave the message, in
    /// hexadecimal digits.
    pub(crate) sent_as: Option<String>,
    /// A MAC of the text, `reply_to` and `intent` that were sent under that id. It recognises a
    /// repeated call even after the text is deleted.
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

    pub(crate) fn others<'a>(&'a self, owner_id: &'a str) -> impl Iterator<Item = &'a Member> {
        self.joined().filter(move |member| member.owner_id != owner_id)
    }

    /// Returns the people who take part, those of one organisation together.
    pub(crate) fn sides(&self) -> Vec<Vec<&Member>> {
        let mut sides: Vec<Vec<&Member>> = Vec::new();
        for member in self.joined() {
            let is_of = |side: &&mut Vec<&Member>| {
                member.org_id.is_some() && side.iter().all(|other| other.org_id == member.org_id)
            };
            match sides.iter_mut().find(is_of) {
                Some(side) => side.push(member),
                None => sides.push(vec![member]),
            }
        }
        sides
    }

    /// Returns the sides without that of a person.
    pub(crate) fn other_sides(&self, owner_id: &str) -> Vec<Vec<&Member>> {
        let mut sides = self.sides();
        sides.retain(|side| side.iter().all(|member| member.owner_id != owner_id));
        sides
    }

    /// Returns the organisations for which people take part, or have.
    pub(crate) fn orgs(&self) -> BTreeSet<String> {
        self.members.iter().filter_map(|member| member.org_id.clone()).collect()
    }

    /// Returns the number of members that counts towards the limit; an organisation counts as one.
    pub(crate) fn size(&self) -> usize {
        let counted = self.members.iter().filter(|member| member.membership.is_counted());
        counted.filter(|member| member.org_id.is_none()).count() + self.orgs().len()
    }

    /// Returns the number of the last message that the person does not see: that before they
    /// joined. Somebody who is no member sees none.
    pub(crate) fn unseen_until(&self, owner_id: &str) -> u64 {
        self.member(owner_id).map_or(u64::MAX, |member| member.joined_after)
    }

    pub(crate) fn has_joined(&self, owner_id: &str) -> bool {
        self.joined().any(|member| member.owner_id == owner_id)
    }

    /// Whether messages may contain contact data: only if the people for whom the thread was opened
    /// have exchanged it, and nobody else takes part.
    pub(crate) fn allows_contact_data(&self) -> bool {
        self.contact_exchanged && self.joined().all(Member::is_founder)
    }
}

impl Visible for Thread {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.member(owner_id).is_some_and(|member| member.membership.can_see())
    }
}

impl Member {
    /// Whether the thread was opened for this member.
    pub(crate) fn is_founder(&self) -> bool {
        self.invited_by.is_none()
    }

    /// Whether the person has consented to the invitation of this member.
    pub(crate) fn has_consent_of(&self, owner_id: &str) -> bool {
        self.consents.iter().any(|consent| consent == owner_id)
    }
}

impl Seat {
    pub(crate) fn new(thread_id: &str, owner_id: &str, active_at: u64) -> Self {
        Self {
            thread_id: thread_id.to_owned(),
            owner_id: owner_id.to_owned(),
            active_at,
            ..Self::default()
        }
    }

    pub(crate) fn is_muted(&self, now: u64) -> bool {
        self.muted && self.muted_until.is_none_or(|until| until > now)
    }
}

pub(crate) fn seat_id(thread_id: &str, owner_id: &str) -> String {
    format!("{thread_id}/{owner_id}")
}

/// Returns the seats of these people; those without one are omitted.
pub(crate) fn seats<'a>(
    thread_id: &str,
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Stored<Seat>>> {
    let ids = owner_ids.into_iter().map(|owner_id| seat_id(thread_id, owner_id));
    Ok(SEATS.get_many(ids)?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(owner_id: &str, org_id: Option<&str>, membership: Membership) -> Member {
        let org_id = org_id.map(str::to_owned);
        Member { owner_id: owner_id.into(), org_id, membership, ..Member::default() }
    }

    #[test]
    fn the_members_of_an_organisation_are_one_side() {
        let thread = Thread {
            pairing_id: "pair_1".into(),
            generation: 0,
            category: None,
            state: ThreadState::Open,
            members: vec![
                member("own_1", None, Membership::Joined),
                member("own_2", Some("org_1"), Membership::Joined),
                member("own_3", Some("org_1"), Membership::Joined),
                member("own_4", Some("org_1"), Membership::Removed),
                member("own_5", None, Membership::Joined),
            ],
            last_seq: 0,
            last_message_id: None,
            contact_exchanged: false,
            active_at: 0,
            close_reason: None,
        };
        let ids = |sides: Vec<Vec<&Member>>| {
            let ids = |side: Vec<&Member>| {
                side.into_iter().map(|member| member.owner_id.clone()).collect::<Vec<_>>()
            };
            sides.into_iter().map(ids).collect::<Vec<_>>()
        };
        assert_eq!(ids(thread.sides()), [vec!["own_1"], vec!["own_2", "own_3"], vec!["own_5"]]);
        assert_eq!(ids(thread.other_sides("own_3")), [vec!["own_1"], vec!["own_5"]]);
        assert_eq!(ids(thread.other_sides("own_1")), [vec!["own_2", "own_3"], vec!["own_5"]]);
        assert_eq!(thread.size(), 3);
    }
}
