//! The stored documents: meetings, and the open ones of each conversation and of each pair of
//! people.

use crate::{refusals::*, states::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Shared;
use portolan_sdk::{documents::OpenIds, prelude::*};
use std::collections::BTreeSet;

pub(crate) const MEETINGS: Collection<Meeting> = Collection::new("meetings")
    .people(&[
        Person::redact("organizer", &[Shared("title"), Shared("location.text")]),
        Person::redact("participants[].owner_id", &[Shared("participants[].comment")]),
        Person::redact("proposed_by", &[]),
        Person::redact("counter.by", &[Shared("counter.note")]),
        Person::redact("reason_by", &[Shared("reason_text")]),
    ])
    .index("people", &["participants[].owner_id"])
    .index("orgs", &["participants[].org_id"])
    .index("thread", &["thread_id"])
    .index("state", &["state", "changed_at"])
    .index("changed", &["changed_at"]);

/// The open meetings of a conversation, keyed by the conversation's id.
pub(crate) const THREADS: Collection<OpenIds> = Collection::new("threads").nobody();
/// The open meetings of two people, keyed by both ids.
pub(crate) const PAIRS: Collection<OpenIds> =
    Collection::new("pairs").people(&[Person::delete("$id")]);

/// A meeting. All stored times are milliseconds since the Unix epoch.
#[document(Default)]
#[entity(
    kind = "meeting", collection = MEETINGS, not_found = MeetingError::MeetingNotFound
)]
pub(crate) struct Meeting {
    pub(crate) thread_id: String,
    /// The person who proposed the meeting.
    pub(crate) organizer: String,
    pub(crate) title: String,
    pub(crate) duration_min: u32,
    /// The time zone in which times are shown: an IANA name.
    pub(crate) time_zone: String,
    pub(crate) location: Option<Location>,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    /// The sequence, which increases whenever earlier answers become invalid (RFC 5546, 2.1.4).
    pub(crate) sequence: u64,
    pub(crate) participants: Vec<Participant>,
    /// The person who proposed the slots.
    pub(crate) proposed_by: String,
    pub(crate) slots: Vec<Slot>,
    /// The counter, if there is one.
    pub(crate) counter: Option<Counter>,
    /// The number of counters so far.
    #[serde(default)]
    pub(crate) rounds: u32,
    /// The slot that was agreed on; it stays reserved while another time is proposed.
    pub(crate) chosen: Option<Slot>,
    pub(crate) respond_by: Option<u64>,
    /// Why it has ended.
    pub(crate) reason: Option<Reason>,
    /// The reason in the person's own words.
    pub(crate) reason_text: Option<String>,
    /// The person who gave the reason.
    #[serde(default)]
    pub(crate) reason_by: Option<String>,
    /// Whether it was cancelled shortly before it began, or later.
    #[serde(default)]
    pub(crate) late: bool,
}

#[document]
pub(crate) struct Participant {
    pub(crate) owner_id: String,
    /// The organisation for which the person takes part.
    pub(crate) org_id: Option<String>,
    pub(crate) status: Participation,
    /// The ids of the slots that the person has accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) accepted: BTreeSet<String>,
    /// The comment in the person's own words.
    pub(crate) comment: Option<String>,
    pub(crate) outcome: Option<Outcome>,
}

#[document(PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) slot_id: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

#[document]
pub(crate) struct Counter {
    pub(crate) by: String,
    pub(crate) slots: Vec<Slot>,
    pub(crate) note: Option<String>,
}

/// The location of a meeting.
#[input(Clone, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    pub(crate) kind: LocationKind,
    /// The name of a place, or how to join the call; a person wrote it. An e-mail address or a
    /// phone number is refused until the participants have exchanged contact data.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) text: Option<String>,
}

#[choice]
pub(crate) enum LocationKind {
    /// A video or audio call.
    Virtual,
    Place,
    /// A phone call, with the numbers that participants have disclosed to each other.
    Phone,
}

/// The outcome of the meeting, as a participant reports it.
#[choice]
pub(crate) enum Outcome {
    /// It took place.
    Completed,
    /// The reporting person was absent.
    NoShow,
    /// The reporting person was there, and somebody else was absent.
    OtherNoShow,
}

#[choice]
pub(crate) enum Reason {
    /// A participant cancelled it.
    ByParticipant,
    /// Some of its participants can no longer meet. Why is not disclosed.
    NotPossible,
    /// `respond_by` or the last slot has passed.
    NoAnswer,
}

impl Participant {
    pub(crate) fn new(owner_id: String, status: Participation) -> Self {
        Self {
            owner_id,
            org_id: None,
            status,
            accepted: BTreeSet::new(),
            comment: None,
            outcome: None,
        }
    }

    /// Deletes the person's answers to earlier slots, with their comment and outcome.
    pub(crate) fn reset_answer(&mut self) {
        let (owner_id, org_id) = (std::mem::take(&mut self.owner_id), self.org_id.take());
        *self = Self { org_id, ..Self::new(owner_id, Participation::NeedsAction) };
    }
}

impl Meeting {
    pub(crate) fn participant(&self, owner_id: &str) -> Option<&Participant> {
        self.participants.iter().find(|participant| participant.owner_id == owner_id)
    }

    pub(crate) fn participant_mut(&mut self, owner_id: &str) -> Option<&mut Participant> {
        self.participants.iter_mut().find(|participant| participant.owner_id == owner_id)
    }

    pub(crate) fn owner_ids(&self) -> impl Iterator<Item = &str> {
        self.participants.iter().map(|participant| participant.owner_id.as_str())
    }

    /// Returns the person whose slots are offered: the others have to answer.
    pub(crate) fn proposer(&self) -> &str {
        self.counter.as_ref().map_or(&self.proposed_by, |counter| &counter.by)
    }

    pub(crate) fn role(&self, owner_id: &str) -> &'static str {
        if self.proposer() == owner_id { PROPOSER } else { RECIPIENT }
    }

    /// Returns the slots that can be accepted now.
    pub(crate) fn offered(&self) -> &[Slot] {
        match (self.state, &self.counter) {
            (State::Proposed, _) => &self.slots,
            (State::Countered, Some(counter)) => &counter.slots,
            _ => &[],
        }
    }

    /// Returns when the meeting expires. It depends on the earlier slots too, because they are
    /// offered again if a counter is declined.
    pub(crate) fn expires_at(&self) -> u64 {
        let counter = self.counter.iter().flat_map(|counter| &counter.slots);
        let last = self.slots.iter().chain(counter).map(|slot| slot.start).max().unwrap_or(0);
        self.respond_by.map_or(last, |respond_by| respond_by.min(last))
    }

    /// Returns whether all who have to answer have accepted the slot.
    pub(crate) fn all_accept(&self, slot_id: &str) -> bool {
        self.participants.iter().all(|participant| {
            participant.owner_id == self.proposer() || participant.accepted.contains(slot_id)
        })
    }

    /// Returns whether a participant has reported that somebody was absent.
    pub(crate) fn is_missed(&self) -> bool {
        let mut outcomes = self.participants.iter().filter_map(|participant| participant.outcome);
        outcomes.any(|outcome| outcome != Outcome::Completed)
    }
}
