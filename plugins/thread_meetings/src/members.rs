//! Meetings of an organisation's member who no longer acts in its name, or is deactivated: another
//! member attends. Meetings of other people who are deactivated are cancelled.

use crate::{
    access, documents::*, ends, meetings, notices, open_meetings, refusals::*, states::*, times,
    types::*,
};
use people_kit::organisations;
use portolan_sdk::prelude::*;

/// The maximum number of meetings that one run changes.
const AT_ONCE: u32 = 10;
/// The maximum number of people who are notified in one run.
const MOST_TOLD: usize = 80;
/// The maximum number of members whose calendar is tried for an agreed time.
const MOST_TRIED: usize = 3;

/// Lets other members attend the open meetings of a member who no longer acts for an organisation.
pub(crate) fn changed(call: &Call, change: &MemberChanged) -> Result<()> {
    let MemberChanged { org_id, owner_id } = change;
    if organisations::acting_members(org_id)?.contains(owner_id) {
        return Ok(());
    }
    let theirs = field("participants[].owner_id").eq(owner_id);
    let filter = theirs.and(field("participants[].org_id").eq(org_id));
    let (meetings, is_more) = open(filter)?;
    let mut has_changed = false;
    for meeting in meetings {
        if seat_of(&meeting.value, owner_id) == Some(org_id) {
            hand_over(call, meeting, change)?;
            has_changed = true;
        }
    }
    if is_more && has_changed {
        let timer = format!("member/{org_id}/{owner_id}");
        timers::set(&timer, call.now(), "pass_on", change)?;
    }
    Ok(())
}

/// Cancels the open meetings of an organisation that was archived.
pub(crate) fn archived(call: &Call, event: &Happened<OrgArchived>) -> Result<()> {
    let org_id = &event.data.org_id;
    let (meetings, is_more) = open(field("participants[].org_id").eq(org_id))?;
    for meeting in meetings {
        ends::part(call, meeting)?;
    }
    if is_more {
        timers::set(&format!("archived/{org_id}"), call.now(), "on_org_archived", event)?;
    }
    Ok(())
}

/// Cancels the open meetings of two people with each other, or all open meetings of one person. Those
/// in which the person represents an organisation pass to another member instead.
pub(crate) fn cannot_meet(call: &Call, people: &CannotMeet) -> Result<()> {
    let theirs = people.owner_ids.iter();
    let (meetings, is_more) =
        open(all_of(theirs.map(|owner_id| field("participants[].owner_id").eq(owner_id))))?;
    for meeting in meetings {
        let leaver = match people.owner_ids.as_slice() {
            [owner_id] => seat_of(&meeting.value, owner_id)
                .map(|org_id| MemberChanged { org_id: org_id.clone(), owner_id: owner_id.clone() }),
            _ => None,
        };
        match leaver {
            Some(leaver) => hand_over(call, meeting, &leaver)?,
            None => ends::part(call, meeting)?,
        }
    }
    if is_more {
        let timer = format!("part/{}", people.owner_ids.join("/"));
        timers::set(&timer, call.now(), "part", people)?;
    }
    Ok(())
}

/// Returns as many open meetings that match the filter as one run can change, and whether there are
/// more.
fn open(filter: Filter) -> Result<(Vec<Stored<Meeting>>, bool)> {
    let filter = filter.and(field("state").one_of(OPEN));
    let page = MEETINGS.find(Query::new().filter(filter).limit(AT_ONCE))?;
    let (found, next) = page.into_parts();
    let (mut meetings, mut told) = (Vec::new(), 0);
    for meeting in found {
        told += access::people(&meeting.value)?.len();
        if told > MOST_TOLD && !meetings.is_empty() {
            return Ok((meetings, true));
        }
        meetings.push(meeting);
    }
    Ok((meetings, next.is_some()))
}

/// Returns the organisation for which a person takes part in a meeting.
fn seat_of<'a>(meeting: &'a Meeting, owner_id: &str) -> Option<&'a String> {
    meeting.participant(owner_id)?.org_id.as_ref()
}

/// Lets another member attend, who has not answered yet, and tells everybody. An agreed time is
/// reserved in the calendar of the new one; if nobody can attend at that time, the meeting is cancelled.
fn hand_over(call: &Call, mut meeting: Stored<Meeting>, leaver: &MemberChanged) -> Result<()> {
    let Some(heir) = heir(call, &mut meeting, leaver)? else { return ends::part(call, meeting) };
    open_meetings::close(&meeting)?;
    access::stand_in(&mut meeting.value, &leaver.owner_id, &heir);
    open_meetings::open(&meeting)?;
    if let Some(participant) = meeting.value.participant_mut(&heir) {
        let outcome = participant.outcome;
        participant.reset_answer();
        participant.outcome = outcome;
    }
    MEETING.step(&meeting.id, meeting.value.state, "on_member_changed")?;
    meetings::save(call, &mut meeting)?;
    ends::update_timers(call, &meeting)?;
    notices::announce_attendance(call, &meeting, &heir)
}

/// Returns the member who can attend, with the agreed time reserved for them; `None` if nobody can.
fn heir(
    call: &Call,
    meeting: &mut Stored<Meeting>,
    leaver: &MemberChanged,
) -> Result<Option<String>> {
    let MemberChanged { org_id, owner_id } = leaver;
    let others = meeting.value.owner_ids().filter(|other| *other != owner_id.as_str());
    let members = organisations::successors(org_id, owner_id, others)?;
    let Some(chosen) = meeting.value.chosen.clone() else { return Ok(members.into_iter().next()) };
    for member in members.into_iter().take(MOST_TRIED) {
        access::stand_in(&mut meeting.value, owner_id, &member);
        let reserved = times::reserve(call, meeting, &chosen);
        access::stand_in(&mut meeting.value, &member, owner_id);
        match reserved {
            Ok(()) => return Ok(Some(member)),
            Err(MeetingError::SlotTaken { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
