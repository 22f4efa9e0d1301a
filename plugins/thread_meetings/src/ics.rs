//! A meeting as a calendar file: iCalendar (RFC 5545) with the method of iTIP (RFC 5546).
//!
//! Participants are identified by `urn:portolan:` and the person's id, which is no address that can
//! be reached. A file contains one time. If there are several to choose from, it is the first, and
//! the others are in `X-PORTOLAN-SLOT`, because a file has no other way to offer them.

use crate::{documents::*, refusals::*, states::*, views::*};
use people_kit::ics::{
    observances,
    write::{Writer, local, quoted, time},
};
use people_kit::{UNTRUSTED, calendar::uid, people, relations::hidden, zones::Zone};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

const PRODUCT: &str = "-//Portolan//thread_meetings//EN";
const YEAR: i64 = 366 * DAY as i64;
/// The time before the first slot for which clock changes are written.
const ZONE_BEFORE: i64 = 2 * YEAR;
/// The time after the last slot for which clock changes are written.
const ZONE_AFTER: i64 = 10 * YEAR;

pub(crate) fn file(call: &Call, meeting: &Stored<Meeting>) -> Result<File> {
    let value = &meeting.value;
    let names = names(call, value)?;
    let (method, status) = method(value.state);
    let zone = Zone::named(&value.time_zone).unwrap_or_else(Zone::utc);
    let slots = slots(value);
    let mut writer = Writer::default();
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "CALSCALE:GREGORIAN"] {
        writer.line(line);
    }
    writer.line(&format!("PRODID:{PRODUCT}"));
    writer.line(&format!("METHOD:{method}"));
    let times = slots.iter().flat_map(|slot| [millis(slot.start), millis(slot.end)]);
    if let (Some(first), Some(last), false) = (times.clone().min(), times.max(), zone.is_utc()) {
        observances::write(&mut writer, &zone, first - ZONE_BEFORE, last + ZONE_AFTER);
    }
    writer.line("BEGIN:VEVENT");
    writer.text("UID", &uid(&meeting.id));
    writer.line(&format!("SEQUENCE:{}", value.sequence));
    for (name, at) in [("DTSTAMP", value.changed_at), ("CREATED", meeting.created_at)] {
        writer.line(&format!("{name}:{}Z", local(Zone::utc().local(millis(at)))));
    }
    if let Some((first, others)) = slots.split_first() {
        writer.line(&time("DTSTART", millis(first.start), &zone));
        writer.line(&time("DTEND", millis(first.end), &zone));
        for slot in others {
            writer.line(&time("X-PORTOLAN-SLOT", millis(slot.start), &zone));
        }
    }
    writer.text("SUMMARY", &value.title);
    if let Some(location) = &value.location {
        writer.text("LOCATION", place(location));
    }
    writer.line(&format!("STATUS:{status}"));
    people_lines(&mut writer, value, &names);
    for line in ["TRANSP:OPAQUE", "CLASS:PRIVATE", "END:VEVENT", "END:VCALENDAR"] {
        writer.line(line);
    }
    Ok(File {
        ics: writer.into_inner(),
        method,
        uid: uid(&meeting.id),
        sequence: value.sequence,
        trust: UNTRUSTED,
    })
}

/// Returns the method of the file and the status of the event.
fn method(state: State) -> (&'static str, &'static str) {
    match state {
        State::Proposed => ("REQUEST", "TENTATIVE"),
        State::Countered => ("COUNTER", "TENTATIVE"),
        State::Confirmed | State::Completed | State::NoShow => ("REQUEST", "CONFIRMED"),
        State::Declined | State::Cancelled | State::Expired => ("CANCEL", "CANCELLED"),
    }
}

/// Returns the slots of the file; the first is that of the event.
fn slots(meeting: &Meeting) -> Vec<&Slot> {
    let offered: Vec<&Slot> = meeting.offered().iter().collect();
    match (&meeting.chosen, offered.is_empty()) {
        (_, false) => offered,
        (Some(chosen), true) => vec![chosen],
        (None, true) => meeting.slots.iter().take(1).collect(),
    }
}

/// Returns the names that people have given themselves, as far as they are visible to the caller.
fn names(call: &Call, meeting: &Meeting) -> Result<BTreeMap<String, String>> {
    let hidden = hidden(call.owner_id(), meeting.owner_ids())?;
    let seen = people::people(meeting.owner_ids().filter(|owner_id| !hidden.contains(*owner_id)))?;
    let named = seen.into_iter().filter(|(_, person)| person.active);
    Ok(named.filter_map(|(owner_id, person)| Some((owner_id, person.display_name?))).collect())
}

fn people_lines(writer: &mut Writer, meeting: &Meeting, names: &BTreeMap<String, String>) {
    let address = |owner_id: &str| format!(":urn:portolan:{owner_id}");
    let name = |owner_id: &str| {
        names.get(owner_id).map_or_else(String::new, |name| format!(";CN={}", quoted(name)))
    };
    let organizer = &meeting.organizer;
    writer.line(&format!("ORGANIZER{}{}", name(organizer), address(organizer)));
    for Participant { owner_id, status, .. } in &meeting.participants {
        let partstat = status.partstat();
        writer.line(&format!(
            "ATTENDEE{};CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT={partstat};RSVP=TRUE{}",
            name(owner_id),
            address(owner_id)
        ));
    }
}

fn place(location: &Location) -> &str {
    location.text.as_deref().unwrap_or(match location.kind {
        LocationKind::Virtual => "Online",
        LocationKind::Place => "In person",
        LocationKind::Phone => "By phone",
    })
}

fn millis(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_method() {
        for state in State::ALL {
            let (method, status) = method(*state);
            assert_eq!(status == "CANCELLED", method == "CANCEL");
            assert!(!state.is_open() || method != "CANCEL");
        }
    }
}
