//! Meetings of an organisation's member who no longer acts in its name: another member attends.

use crate::{
    access, documents::*, ends, meetings, open_meetings, refusals::*, states::*, times, types::*,
};
use people_kit::organisations;
use portolan_sdk::prelude::*;

/// The maximum number of meetings that one run changes.
const AT_ONCE: u32 = 4;

/// Lets other members attend the open meetings of a member who no longer acts for an organisation.
/// An agreed time is reserved in the calendar of the new one, if they are free; otherwise it stays
/// as it is, and they can propose another one.
pub(crate) fn changed(call: &Call, change: &MemberChanged) -> Result<()> {
    let MemberChanged { org_id, owner_id } = change;
    if organisations::acting_members(org_id)?.contains(owner_id) {
        return Ok(());
    }
    let theirs = field("participants[].owner_id").eq(owner_id);
    let of_org = field("participants[].org_id").eq(org_id);
    let filter = theirs.and(of_org).and(field("state").one_of(OPEN));
    let page = MEETINGS.find(Query::new().filter(filter).limit(AT_ONCE))?;
    let (meetings, next) = page.into_parts();
    let mut has_changed = false;
    for mut meeting in meetings {
        has_changed |= pass_on(call, &mut meeting, change)?;
    }
    if next.is_some() && has_changed {
        let timer = format!("member/{org_id}/{owner_id}");
        timers::set(&timer, call.now(), "pass_on", change)?;
    }
    Ok(())
}

/// Lets another member attend; returns whether there is one.
fn pass_on(call: &Call, meeting: &mut Stored<Meeting>, change: &MemberChanged) -> Result<bool> {
    let MemberChanged { org_id, owner_id } = change;
    let participant = meeting.value.participant(owner_id);
    if participant.is_none_or(|participant| participant.org_id.as_ref() != Some(org_id)) {
        return Ok(false);
    }
    let others = meeting.value.owner_ids().filter(|other| *other != owner_id.as_str());
    let Some(heir) = organisations::successor(org_id, owner_id, others)? else { return Ok(false) };
    open_meetings::close(meeting)?;
    access::stand_in(&mut meeting.value, owner_id, &heir);
    open_meetings::open(meeting)?;
    if let Some(chosen) = meeting.value.chosen.clone() {
        match times::reserve(call, meeting, &chosen) {
            Ok(()) | Err(MeetingError::SlotTaken { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    MEETING.step(&meeting.id, meeting.value.state, "on_member_changed")?;
    meetings::save(call, meeting)?;
    ends::update_timers(call, meeting)?;
    Ok(true)
}
