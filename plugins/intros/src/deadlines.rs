//! The steps that are due at a time: the request reaches the introducer, one reminder, and the ends.

use crate::people::sees_others;
use crate::{credits, documents::*, notices, refusals::*, request, states::*, types::*};
use portolan_sdk::prelude::*;

/// Sets the timers of a new request. The introducer is told in a call of its own, so that a dry run of the
/// request does not tell whether they see the target.
pub(crate) fn begin(call: &Call, requesters: &Stored<Seat>) -> Result<()> {
    let Seat { intro_id, requested_at, ends_at, .. } = &requesters.value;
    let input = IntroId::of(intro_id);
    timers::set(&format!("deliver/{intro_id}"), call.now(), "deliver", &input)?;
    timers::set(&format!("lapse/{intro_id}"), requested_at + INTRODUCER_HAS, "lapse", &input)?;
    Ok(timers::set(&format!("end/{intro_id}"), *ends_at, "end", &input)?)
}

/// Tells the introducer of a request, if they see both others.
pub(crate) fn deliver(intro_id: &str) -> Result<()> {
    let Some(seat) = find_by_role(intro_id, Role::Introducer)? else { return Ok(()) };
    if seat.value.state == State::Asked && sees_others(&seat.value)? {
        remind(&seat)?;
        notices::REQUEST.notify(&seat)?;
    }
    Ok(())
}

/// Sets the one reminder of a person who has to answer.
pub(crate) fn remind(seat: &Stored<Seat>) -> Result<()> {
    let Seat { intro_id, role, ends_at, .. } = &seat.value;
    let due = Due { intro_id: intro_id.clone().into(), role: *role };
    let at = ends_at.saturating_sub(REMINDED_BEFORE);
    Ok(timers::set(&reminder(&seat.value), at, "remind_once", &due)?)
}

/// Reminds a person who has not answered.
pub(crate) fn remind_once(due: &Due) -> Result<()> {
    let Some(seat) = find_by_role(&due.intro_id, due.role)? else { return Ok(()) };
    let requesters = seat.value.find(Role::Requester)?;
    let is_wanted = requesters.is_some_and(|requesters| requesters.value.state == State::Asked);
    if is_wanted && seat.value.state.is_open() && sees_others(&seat.value)? {
        notices::REMINDING.notify(&seat)?;
    }
    Ok(())
}

/// Ends the time of an introducer who has not answered. Nobody is told.
pub(crate) fn lapse(call: &Call, intro_id: &str) -> Result<()> {
    match find_by_role(intro_id, Role::Introducer)? {
        Some(mut seat) if seat.value.state == State::Asked => {
            enter(&mut seat, State::Expired, call.now())
        }
        _ => Ok(()),
    }
}

/// Ends a request that did not lead to an introduction, for all who still wait. Only the requester is told, and
/// not why.
pub(crate) fn end(call: &Call, intro_id: &str) -> Result<()> {
    let now = call.now();
    for mut seat in seats(intro_id)? {
        if !seat.value.state.is_open() {
            continue;
        }
        match seat.value.role {
            Role::Requester => {
                credits::spend(&mut seat.value)?;
                request::close(&seat.value, now)?;
                enter(&mut seat, State::NotNow, now)?;
                notices::NOT_NOW.notify(&seat)?;
            }
            Role::Introducer if seat.value.state == State::Forwarded => {
                enter(&mut seat, State::NotNow, now)?;
            }
            Role::Introducer | Role::Target => enter(&mut seat, State::Expired, now)?,
        }
    }
    Ok(timers::set(
        &format!("forget/{intro_id}"),
        now + KEPT_FOR,
        "forget",
        &IntroId::of(intro_id),
    )?)
}

/// Tells those who have a withdrawn request before them that it is withdrawn.
pub(crate) fn tell_withdrawn(call: &Call, intro_id: &str) -> Result<()> {
    for mut seat in seats(intro_id)? {
        if seat.value.role != Role::Requester && seat.value.state.is_open() {
            stop_reminder(&seat.value)?;
            enter(&mut seat, State::Withdrawn, call.now())?;
            if sees_others(&seat.value)? {
                notices::WITHDRAWAL.notify(&seat)?;
            }
        }
    }
    Ok(())
}

/// Deletes an introduction that did not come about, long after its end.
pub(crate) fn forget(intro_id: &str) -> Result<()> {
    for seat in seats(intro_id)? {
        SEATS.delete(&seat.id, Expect::Revision(seat.revision))?;
    }
    Ok(())
}

/// Gives back the credits that are held for requests to or about a person who is about to be erased; the requests
/// are deleted with the person, and the requesters can ask others at once.
pub(crate) fn left(owner_id: &str) -> Result<()> {
    let open = field("role").eq("requester").and(field("state").eq(State::Asked));
    let theirs = ["introducer_id", "target_id"].map(|path| field(path).eq(owner_id));
    for hit in SEATS.all(Query::new().filter(any_of(theirs).and(open))) {
        let mut seat = hit?.document;
        credits::refund(&mut seat.value, "cancelled")?;
        request::forget(&seat.value)?;
        seat.save()?;
    }
    Ok(())
}

/// Cancels the remaining timers of an introduction that was made.
pub(crate) fn stop(seat: &Seat) -> Result<()> {
    stop_reminder(seat)?;
    for name in ["lapse", "end"] {
        timers::cancel(&format!("{name}/{}", seat.intro_id))?;
    }
    Ok(())
}

pub(crate) fn stop_reminder(seat: &Seat) -> Result<()> {
    timers::cancel(&reminder(seat))?;
    Ok(())
}

fn reminder(seat: &Seat) -> String {
    format!("remind/{}/{}", seat.intro_id, seat.role.name())
}

/// Returns the seats of an introduction: at most three.
fn seats(intro_id: &str) -> Result<Vec<Stored<Seat>>> {
    let query = Query::new().filter(field("intro_id").eq(intro_id)).limit(3);
    Ok(SEATS.find(query)?.into_documents().collect())
}

fn find_by_role(intro_id: &str, role: Role) -> Result<Option<Stored<Seat>>> {
    Ok(seats(intro_id)?.into_iter().find(|seat| seat.value.role == role))
}
