//! Who is told what. Whoever does something is not told of it, but for what concerns all alike.

use crate::{kept::*, meetings::trust, refusals::*, types::*, views::*};
use people_kit::{UNTRUSTED, contact::has_contact_data};
use portolan_sdk::prelude::*;

fn resource(meeting: &Stored<Meeting>) -> Resource {
    Resource {
        kind: "meeting",
        id: meeting.id.clone(),
        state: meeting.value.state.name(),
        version: meeting.revision,
    }
}

/// Puts an event into everybody's inbox, but for one person's.
fn tell<T: Serialize>(
    event: Event<Data<T>>,
    meeting: &Stored<Meeting>,
    but: Option<&str>,
    data: &Data<T>,
) -> Result<(), HostError> {
    for owner_id in meeting.value.owner_ids().filter(|it| Some(*it) != but) {
        let audience = Audience::Owner(owner_id.to_owned());
        event.publish(audience, format!("meetings/{}", meeting.id), data)?;
    }
    Ok(())
}

fn asked(call: &Call, meeting: &Stored<Meeting>, text: Option<String>) -> Asked {
    let value = &meeting.value;
    Asked {
        meeting_id: meeting.id.clone(),
        thread_id: value.thread_id.clone(),
        sequence: value.sequence,
        slots: value.offered().iter().map(|it| slot(value, it, call.now())).collect(),
        time_zone: value.time_zone.clone(),
        respond_by: value.respond_by.map(rfc3339),
        text,
        trust: UNTRUSTED,
    }
}

pub(crate) fn proposed(call: &Call, meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let more = asked(call, meeting, Some(meeting.value.title.clone()));
    let data = Data::new(call, resource(meeting), "A meeting is proposed.", more);
    tell(PROPOSED, meeting, call.owner_id(), &data.next(get(&meeting.id)))
}

pub(crate) fn countered(call: &Call, meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let note = meeting.value.counter.as_ref().and_then(|counter| counter.note.clone());
    let summary = "Other times are proposed for a meeting.";
    let data = Data::new(call, resource(meeting), summary, asked(call, meeting, note));
    tell(COUNTERED, meeting, call.owner_id(), &data.next(get(&meeting.id)))
}

pub(crate) fn rescheduled(call: &Call, meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let more = asked(call, meeting, Some(meeting.value.title.clone()));
    let summary = "A meeting is to be moved. Until that is answered, its time stays reserved.";
    let data = Data::new(call, resource(meeting), summary, more);
    tell(RESCHEDULED, meeting, call.owner_id(), &data.next(get(&meeting.id)))
}

fn agreed(meeting: &Stored<Meeting>, hours: Option<u64>) -> Option<Agreed> {
    let value = &meeting.value;
    let Slot { start, end, .. } = value.chosen.as_ref()?;
    let place = |Location { kind, text }| PlaceView {
        kind,
        // Events hold no contact data, also where meetings do.
        text: text.filter(|text| !has_contact_data(text)),
    };
    Some(Agreed {
        meeting_id: meeting.id.clone(),
        thread_id: value.thread_id.clone(),
        sequence: value.sequence,
        start: rfc3339(*start),
        end: rfc3339(*end),
        time_zone: value.time_zone.clone(),
        location: value.location.clone().map(place),
        text: value.title.clone(),
        trust: UNTRUSTED,
        hours,
    })
}

pub(crate) fn confirmed(call: &Call, meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let Some(more) = agreed(meeting, None) else { return Ok(()) };
    let data = Data::new(call, resource(meeting), "A meeting is settled.", more);
    tell(CONFIRMED, meeting, None, &data.next(ics(&meeting.id)))
}

pub(crate) fn reminder(meeting: &Stored<Meeting>, hours: u64) -> Result<(), HostError> {
    let Some(more) = agreed(meeting, Some(hours)) else { return Ok(()) };
    let data = Data::by_system(resource(meeting), "A meeting is about to begin.", more);
    tell(REMINDER, meeting, None, &data.next(get(&meeting.id)))
}

pub(crate) fn declined(
    call: &Call,
    meeting: &Stored<Meeting>,
    declined: &'static str,
    text: Option<String>,
) -> Result<(), HostError> {
    let more = Refused {
        meeting_id: meeting.id.clone(),
        thread_id: meeting.value.thread_id.clone(),
        sequence: meeting.value.sequence,
        declined,
        trust: trust(text.as_ref()),
        text,
    };
    let data = Data::new(call, resource(meeting), "Somebody has declined.", more);
    tell(DECLINED, meeting, call.owner_id(), &data.next(get(&meeting.id)))
}

fn over(meeting: &Stored<Meeting>, late: Option<bool>) -> Over {
    let text = meeting.value.reason_text.clone();
    Over {
        meeting_id: meeting.id.clone(),
        thread_id: meeting.value.thread_id.clone(),
        sequence: meeting.value.sequence,
        reason: meeting.value.reason,
        late,
        trust: trust(text.as_ref()),
        text,
    }
}

const GONE: &str = "A meeting is cancelled.";

pub(crate) fn cancelled(call: &Call, meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let more = over(meeting, Some(meeting.value.late));
    let data = Data::new(call, resource(meeting), GONE, more).next(get(&meeting.id));
    tell(CANCELLED, meeting, call.owner_id(), &data)
}

/// The same for everybody in it, and by nobody.
pub(crate) fn impossible(meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let more = over(meeting, Some(false));
    let data = Data::by_system(resource(meeting), GONE, more).next(get(&meeting.id));
    tell(CANCELLED, meeting, None, &data)
}

pub(crate) fn expired(meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let summary = "Nobody has agreed on a meeting in time.";
    let data = Data::by_system(resource(meeting), summary, over(meeting, None));
    tell(EXPIRED, meeting, None, &data.next(get(&meeting.id)))
}

/// What participants have reported is told by nobody: one may say of the other what that one would
/// not say.
pub(crate) fn completed(meeting: &Stored<Meeting>) -> Result<(), HostError> {
    let summary = "The time of a meeting is over.";
    let data = Data::by_system(resource(meeting), summary, over(meeting, None));
    tell(COMPLETED, meeting, None, &data.next(get(&meeting.id)))
}
