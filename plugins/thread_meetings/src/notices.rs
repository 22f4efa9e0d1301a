//! The events of meetings, and their recipients: the participants, and the colleagues of those who stand
//! for an organisation. The person who acts gets no event, unless it
//! concerns all in the same way.

use crate::{access, documents::*, refusals::*, types::*, views::*};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// An event of a meeting, with its summary, the person whom it names, and its next step.
pub(crate) struct Notice {
    event: MeetingEvent,
    summary: &'static str,
    by: By,
    /// The next step of the event.
    next: fn(&str) -> Next,
}

/// The person who is named in the event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The caller, who does not get the event.
    Caller,
    /// The caller, who gets the event like the others.
    CallerToAll,
    /// Nobody is named.
    System,
}

const CANCELLED_SUMMARY: &str = "A meeting is cancelled.";
const MOVED_SUMMARY: &str =
    "A meeting is to be moved. Until that is answered, its time stays reserved.";

pub(crate) const PROPOSAL: Notice = Notice::new(By::Caller, PROPOSED, "A meeting is proposed.");
pub(crate) const COUNTER: Notice =
    Notice::new(By::Caller, COUNTERED, "Other times are proposed for a meeting.");
pub(crate) const MOVE: Notice = Notice::new(By::Caller, RESCHEDULED, MOVED_SUMMARY);
pub(crate) const REFUSAL: Notice = Notice::new(By::Caller, DECLINED, "Somebody has declined.");
pub(crate) const CANCELLATION: Notice = Notice::new(By::Caller, CANCELLED, CANCELLED_SUMMARY);
/// The cancellation of a meeting that can no longer take place. It does not disclose why.
pub(crate) const IMPOSSIBLE: Notice = Notice::new(By::System, CANCELLED, CANCELLED_SUMMARY);
pub(crate) const AGREEMENT: Notice =
    Notice { next: ics, ..Notice::new(By::CallerToAll, CONFIRMED, "A meeting is settled.") };
pub(crate) const UPCOMING: Notice =
    Notice::new(By::System, REMINDER, "A meeting is about to begin.");
const ATTENDANCE: Notice = Notice::new(
    By::System,
    PARTICIPANT_CHANGED,
    "Another member of an organisation attends a meeting now.",
);
/// The same for the member who attends.
const OWN_ATTENDANCE: Notice = Notice::new(
    By::System,
    PARTICIPANT_CHANGED,
    "You attend a meeting in place of another member. If you cannot, move or cancel it.",
);
pub(crate) const UNANSWERED: Notice =
    Notice::new(By::System, EXPIRED, "The participants did not agree on a meeting in time.");
/// The end of a meeting. Reports are not included: a participant may say something about another
/// one that they would not say to them.
pub(crate) const ENDED: Notice =
    Notice::new(By::System, COMPLETED, "The time of a meeting is over.");

impl Notice {
    const fn new(by: By, event: MeetingEvent, summary: &'static str) -> Self {
        Self { event, summary, by, next: get }
    }

    pub(crate) fn notify(
        &self,
        call: &Call,
        meeting: &Stored<Meeting>,
        facts: Facts,
    ) -> Result<()> {
        let excluded = call.owner_id().filter(|_| self.by == By::Caller);
        let mut people = access::people(&meeting.value)?;
        people.retain(|owner_id| Some(owner_id.as_str()) != excluded);
        self.publish(call, meeting, people, facts)
    }

    /// Publishes the event to these people.
    fn publish(
        &self,
        call: &Call,
        meeting: &Stored<Meeting>,
        people: BTreeSet<String>,
        facts: Facts,
    ) -> Result<()> {
        let facts = Facts {
            meeting_id: meeting.id.clone(),
            thread_id: meeting.value.thread_id.clone(),
            sequence: meeting.value.sequence,
            ..facts
        };
        let data = match self.by == By::System {
            true => Data::by_system(meeting.resource(), self.summary, facts),
            false => Data::new(call, meeting.resource(), self.summary, facts),
        };
        let data = data.next((self.next)(&meeting.id));
        for owner_id in people {
            meeting.publish(self.event, Audience::Owner(owner_id), &data)?;
        }
        Ok(())
    }
}

/// Notifies everybody that another member of an organisation attends.
pub(crate) fn announce_attendance(
    call: &Call,
    meeting: &Stored<Meeting>,
    attends: &str,
) -> Result<()> {
    let facts =
        || Facts { attends: Some(attends.to_owned()), ..Facts::agreed(&meeting.value, None) };
    let (own, others): (BTreeSet<_>, BTreeSet<_>) =
        access::people(&meeting.value)?.into_iter().partition(|owner_id| owner_id == attends);
    OWN_ATTENDANCE.publish(call, meeting, own, facts())?;
    ATTENDANCE.publish(call, meeting, others, facts())
}

impl Facts {
    pub(crate) fn offer(call: &Call, meeting: &Meeting) -> Self {
        let offered = meeting.offered().iter();
        Self {
            slots: Some(offered.map(|offer| slot(meeting, offer, call.now())).collect()),
            time_zone: Some(meeting.time_zone.clone()),
            respond_by: meeting.respond_by.map(rfc3339),
            ..Self::default()
        }
    }

    /// Returns the facts with the time that all have agreed on; `hours` is for a reminder.
    pub(crate) fn agreed(meeting: &Meeting, hours: Option<u64>) -> Self {
        let chosen = meeting.chosen.as_ref();
        Self {
            start: chosen.map(|slot| rfc3339(slot.start)),
            end: chosen.map(|slot| rfc3339(slot.end)),
            time_zone: Some(meeting.time_zone.clone()),
            hours,
            ..Self::default()
        }
    }

    /// Returns the facts with the reason for which the meeting has ended.
    pub(crate) fn ended(meeting: &Meeting, late: Option<bool>) -> Self {
        Self { reason: meeting.reason, late, ..Self::default() }
    }
}
