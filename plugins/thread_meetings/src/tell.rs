//! Who is told what. Whoever does something is not told of it, but for what concerns all alike.

use crate::{kept::*, refusals::*, types::*, views::*};
use people_kit::{UNTRUSTED, contact::has_contact_data};
use portolan_sdk::prelude::*;

/// What can happen to a meeting, and how people are told of it.
pub(crate) struct Notice {
    event: MeetingEvent,
    summary: &'static str,
    by: By,
    /// The call that the event leads to.
    next: fn(&str) -> Next,
}

/// Who is named as the one who did it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The caller, who is not told.
    Caller,
    /// The caller, who is told as the others are.
    CallerToAll,
    /// Nobody.
    System,
}

const GONE: &str = "A meeting is cancelled.";
const MOVED: &str = "A meeting is to be moved. Until that is answered, its time stays reserved.";

pub(crate) const PROPOSAL: Notice = Notice::new(By::Caller, PROPOSED, "A meeting is proposed.");
pub(crate) const COUNTER: Notice =
    Notice::new(By::Caller, COUNTERED, "Other times are proposed for a meeting.");
pub(crate) const MOVE: Notice = Notice::new(By::Caller, RESCHEDULED, MOVED);
pub(crate) const REFUSAL: Notice = Notice::new(By::Caller, DECLINED, "Somebody has declined.");
pub(crate) const CANCELLATION: Notice = Notice::new(By::Caller, CANCELLED, GONE);
/// Why it cannot take place is nobody's business.
pub(crate) const IMPOSSIBLE: Notice = Notice::new(By::System, CANCELLED, GONE);
pub(crate) const AGREEMENT: Notice =
    Notice { next: ics, ..Notice::new(By::CallerToAll, CONFIRMED, "A meeting is settled.") };
pub(crate) const SOON: Notice = Notice::new(By::System, REMINDER, "A meeting is about to begin.");
pub(crate) const UNANSWERED: Notice =
    Notice::new(By::System, EXPIRED, "Nobody has agreed on a meeting in time.");
/// What participants have reported is told by nobody: one may say of the other what that one would
/// not say.
pub(crate) const ENDED: Notice =
    Notice::new(By::System, COMPLETED, "The time of a meeting is over.");

impl Notice {
    const fn new(by: By, event: MeetingEvent, summary: &'static str) -> Self {
        Self { event, summary, by, next: get }
    }

    /// Puts the event into the inboxes of those whom it concerns.
    pub(crate) fn tell(&self, call: &Call, meeting: &Stored<Meeting>, facts: Facts) -> Result<()> {
        let facts = Facts {
            meeting_id: meeting.id.clone(),
            thread_id: meeting.value.thread_id.clone(),
            sequence: meeting.value.sequence,
            ..facts
        };
        let data = match self.by {
            By::System => Data::by_system(meeting.resource(), self.summary, facts),
            By::Caller | By::CallerToAll => {
                Data::new(call, meeting.resource(), self.summary, facts)
            }
        };
        let data = data.next((self.next)(&meeting.id));
        let but = call.owner_id().filter(|_| self.by == By::Caller);
        for owner_id in meeting.value.owner_ids().filter(|owner_id| Some(*owner_id) != but) {
            meeting.publish(self.event, Audience::Owner(owner_id.to_owned()), &data)?;
        }
        Ok(())
    }
}

impl Facts {
    /// Times to answer, with the meeting's title or the note of a counter.
    pub(crate) fn asked(call: &Call, meeting: &Meeting, text: Option<String>) -> Self {
        let offered = meeting.offered().iter();
        Self {
            slots: Some(offered.map(|offer| slot(meeting, offer, call.now())).collect()),
            time_zone: Some(meeting.time_zone.clone()),
            respond_by: meeting.respond_by.map(rfc3339),
            text,
            trust: Some(UNTRUSTED),
            ..Self::default()
        }
    }

    /// The time that all agree on; `hours` of a reminder.
    pub(crate) fn agreed(meeting: &Meeting, hours: Option<u64>) -> Self {
        let chosen = meeting.chosen.as_ref();
        let location = meeting.location.clone().map(|location| Location {
            // Events hold no contact data, also where meetings do.
            text: location.text.filter(|text| !has_contact_data(text)),
            ..location
        });
        Self {
            start: chosen.map(|slot| rfc3339(slot.start)),
            end: chosen.map(|slot| rfc3339(slot.end)),
            time_zone: Some(meeting.time_zone.clone()),
            location,
            hours,
            ..Self::said(Some(meeting.title.clone()))
        }
    }

    /// Why it is over.
    pub(crate) fn over(meeting: &Meeting, late: Option<bool>) -> Self {
        Self { reason: meeting.reason, late, ..Self::said(meeting.reason_text.clone()) }
    }

    /// A person's own words.
    pub(crate) fn said(text: Option<String>) -> Self {
        Self { trust: text.as_ref().map(|_| UNTRUSTED), text, ..Self::default() }
    }
}
