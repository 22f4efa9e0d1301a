//! What is kept: meetings, and which of them are open between whom.

use crate::{life::*, refusals::*};
use portolan_sdk::{documents::OpenIds, prelude::*};
use std::collections::BTreeSet;

pub(crate) const MEETINGS: Collection<Meeting> = Collection::new("meetings")
    .index("people", &["participants[].owner_id"])
    .index("thread", &["thread_id"])
    .index("state", &["state", "changed_at"])
    .index("changed", &["changed_at"]);

/// The open meetings of a conversation, by its id.
pub(crate) const THREADS: Collection<OpenIds> = Collection::new("threads");
/// The open meetings of two people, by both ids.
pub(crate) const PAIRS: Collection<OpenIds> = Collection::new("pairs");

/// Times are milliseconds since the Unix epoch in everything that is kept.
#[document]
#[entity(
    kind = "meeting", collection = MEETINGS, not_found = MeetingError::MeetingNotFound
)]
pub(crate) struct Meeting {
    pub(crate) thread_id: String,
    /// Who proposed it first.
    pub(crate) organizer: String,
    pub(crate) title: String,
    pub(crate) duration_min: u32,
    /// The IANA name of the zone that times are shown in.
    pub(crate) time_zone: String,
    pub(crate) location: Option<Location>,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    /// Counts up whenever answers to what was before say nothing any more (RFC 5546, 2.1.4).
    pub(crate) sequence: u64,
    pub(crate) participants: Vec<Participant>,
    /// Who proposed the slots.
    pub(crate) proposed_by: String,
    pub(crate) slots: Vec<Slot>,
    /// What somebody proposed instead.
    pub(crate) counter: Option<Counter>,
    /// Counters so far.
    #[serde(default)]
    pub(crate) rounds: u32,
    /// What was agreed on; while another time is asked for, it stays reserved.
    pub(crate) chosen: Option<Slot>,
    pub(crate) respond_by: Option<u64>,
    /// Why it is over.
    pub(crate) reason: Option<Reason>,
    /// The person's own words for it.
    pub(crate) reason_text: Option<String>,
    /// Cancelled when it was about to begin, or had begun.
    #[serde(default)]
    pub(crate) late: bool,
}

#[document]
pub(crate) struct Participant {
    pub(crate) owner_id: String,
    pub(crate) status: Participation,
    /// The slots that the person has accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) accepted: BTreeSet<String>,
    /// The person's own words for it.
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

/// Where people meet.
#[input(Clone, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    pub(crate) kind: LocationKind,
    /// A place's name, or how to join; a person wrote it. An e-mail address or a phone number is
    /// refused until the participants have exchanged contact data.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) text: Option<String>,
}

#[choice]
pub(crate) enum LocationKind {
    /// A video or audio call.
    Virtual,
    Place,
    /// One calls the other, with what they have disclosed to each other.
    Phone,
}

/// What a participant says became of the meeting.
#[choice]
pub(crate) enum Outcome {
    /// It took place.
    Completed,
    /// The person was not there.
    NoShow,
    /// The person was there, and somebody else was not.
    OtherNoShow,
}

#[choice]
pub(crate) enum Reason {
    /// A participant cancelled it.
    ByParticipant,
    /// Not everybody in it can be met any more. Why is not told.
    NotPossible,
    /// `respond_by` or the last slot has passed.
    NoAnswer,
}

impl Participant {
    pub(crate) fn new(owner_id: String, status: Participation) -> Self {
        Self { owner_id, status, accepted: BTreeSet::new(), comment: None, outcome: None }
    }

    /// Forgets what the person said to earlier times.
    pub(crate) fn ask_again(&mut self) {
        *self = Self::new(std::mem::take(&mut self.owner_id), Participation::NeedsAction);
    }
}

impl Visible for Meeting {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.participant(owner_id).is_some()
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

    /// Whose times are on the table: the others have to answer.
    pub(crate) fn asking(&self) -> &str {
        self.counter.as_ref().map_or(&self.proposed_by, |counter| &counter.by)
    }

    /// The times that can be accepted now.
    pub(crate) fn offered(&self) -> &[Slot] {
        match (self.state, &self.counter) {
            (State::Proposed, _) => &self.slots,
            (State::Countered, Some(counter)) => &counter.slots,
            _ => &[],
        }
    }

    /// When it is too late to agree: a counter that is declined brings the slots before it back.
    pub(crate) fn expires_at(&self) -> u64 {
        let counter = self.counter.iter().flat_map(|counter| &counter.slots);
        let last = self.slots.iter().chain(counter).map(|slot| slot.start).max().unwrap_or(0);
        self.respond_by.map_or(last, |respond_by| respond_by.min(last))
    }

    /// Whether all who have to answer have accepted the slot.
    pub(crate) fn all_accept(&self, slot_id: &str) -> bool {
        let asked =
            self.participants.iter().filter(|participant| participant.owner_id != self.asking());
        asked.into_iter().all(|participant| participant.accepted.contains(slot_id))
    }

    /// Whether somebody says that it did not take place.
    pub(crate) fn is_missed(&self) -> bool {
        let outcomes = self.participants.iter().filter_map(|participant| participant.outcome);
        outcomes.into_iter().any(|outcome| outcome != Outcome::Completed)
    }
}
