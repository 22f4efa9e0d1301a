//! When a person is busy, and when others can book them.

use crate::{
    documents::*,
    limits::{DAY, LONGEST_RANGE, MANY_SPANS},
    refusals::*,
    spans::*,
    types::*,
};
use people_kit::{
    calendar::Firmness,
    relations::{Tuple, allowed},
};
use portolan_sdk::{prelude::*, time::parse};

/// The relation of those who make appointments in a person's calendar.
const SCHEDULER: &str = "scheduler";

/// The times in a range at which a person is busy. `busy` contains `meetings`.
#[derive(Debug, Default)]
pub(crate) struct BusyTimes {
    pub(crate) busy: Vec<Span>,
    pub(crate) tentative: Vec<Span>,
    pub(crate) meetings: Vec<Span>,
}

/// Returns everything at which the person is busy, except what was reserved under this reference.
pub(crate) fn busy_times(
    zones: &mut Zones,
    owner_id: &str,
    range: Span,
    excluded: Option<&str>,
) -> Result<BusyTimes> {
    let mut times = BusyTimes::default();
    for block in blocks(owner_id, range)? {
        let Some(series) = block.value.series(zones) else { continue };
        let spans = match block.value.tentative {
            true => &mut times.tentative,
            false => &mut times.busy,
        };
        series.each(range, |one| spans.push(one));
        if spans.len() > MANY_SPANS {
            *spans = merged(std::mem::take(spans));
        }
    }
    for reservation in reservations(owner_id, range)? {
        if excluded == Some(reservation.id.as_str()) {
            continue;
        }
        let span = Span::new(reservation.value.begins, reservation.value.ends);
        match reservation.value.kind {
            Firmness::Tentative => times.tentative.push(span),
            Firmness::Firm => {
                times.busy.push(span);
                times.meetings.push(span);
            }
        }
    }
    times.busy = merged(times.busy);
    times.tentative = merged(times.tentative);
    Ok(times)
}

/// Returns the times in this range that others cannot book, merged: busy time, and what the
/// person's availability excludes.
pub(crate) fn closed(
    now: i64,
    zones: &mut Zones,
    owner_id: &str,
    range: Span,
    excluded: Option<&str>,
) -> Result<Vec<Span>> {
    let times = busy_times(zones, owner_id, range.widened(DAY), excluded)?;
    Ok(match hours(owner_id)? {
        Some(hours) => hours.value.closed(range, now, &times.busy, &times.meetings),
        None => merged([times.busy, vec![Span::new(i64::MIN, now)]].concat()),
    })
}

/// Returns when a person is busy, for a caller who is permitted to know.
pub(crate) fn freebusy(owner_id: &str, range: Span) -> Result<Freebusy> {
    let times = busy_times(&mut Zones::default(), owner_id, range, None)?;
    let mut layers = vec![(FbType::Busy, times.busy), (FbType::Tentative, times.tentative)];
    if let Some(hours) = hours(owner_id)? {
        let open = hours.value.open(&hours.value.zone(), range);
        layers.push((FbType::Unavailable, gaps(range, &open)));
    }
    let period = |(span, fbtype): (Span, FbType)| Period {
        start: text(span.start),
        end: text(span.end),
        fbtype,
    };
    let periods = layered(range, &layers).into_iter().map(period).collect();
    Ok(Freebusy { start: text(range.start), end: text(range.end), periods })
}

/// Refuses a caller who may not know when a person is busy. The refusal is the same if there is no
/// such person.
pub(crate) fn permit(call: &Call, owner_id: &str) -> Result<()> {
    const RELATION: &str = "can_see_freebusy";
    let object = format!("owner:{owner_id}");
    if let Some(agent) = call.agent()
        && (allowed(Tuple::new(object.as_str(), RELATION, format!("agent:{}", agent.agent_id)))?
            || is_scheduler(call, owner_id)?)
    {
        return Ok(());
    }
    let message = "This person has not let you see when they are busy.";
    let check = Next::action("social_permissions", "check").field("relation", RELATION);
    let refusal = Refusal::common(ErrorCode::NotPermitted, message);
    Err(refusal.next(check.field("object", object)).into())
}

/// Returns whether the caller makes appointments in a person's calendar.
fn is_scheduler(call: &Call, owner_id: &str) -> Result<bool> {
    let Some(agent) = call.agent() else { return Ok(false) };
    let (object, subject) = (format!("calendar:{owner_id}"), format!("agent:{}", agent.agent_id));
    Ok(allowed(Tuple::new(object, SCHEDULER, subject))?)
}

/// Refuses a caller who may not make appointments in a person's calendar. The refusal is the same if there
/// is no such person.
pub(crate) fn ensure_scheduler(call: &Call, owner_id: &str) -> Result<()> {
    if is_scheduler(call, owner_id)? {
        return Ok(());
    }
    let message = "This person has not let you make appointments in their calendar.";
    let check = Next::action("social_permissions", "check").field("relation", SCHEDULER);
    let refusal = Refusal::common(ErrorCode::NotPermitted, message);
    Err(refusal.next(check.field("object", format!("calendar:{owner_id}"))).into())
}

/// Parses a range. Refuses an empty one, and one that is longer than one call may read.
pub(crate) fn range(start: &str, end: &str) -> Result<Span> {
    let span = Span::new(millis("/start", start)?, millis("/end", end)?);
    match span.end > span.start && span.end - span.start <= LONGEST_RANGE {
        true => Ok(span),
        false => Err(CalendarError::RangeTooLarge),
    }
}

pub(crate) fn millis(pointer: &str, instant: &str) -> Result<i64> {
    let millis = parse(instant).and_then(|millis| i64::try_from(millis).ok());
    let expected = "an instant of RFC 3339, not before 1970";
    millis.ok_or_else(|| CalendarError::validation(pointer, "date-time", expected))
}

pub(crate) fn text(millis: i64) -> String {
    rfc3339(u64::try_from(millis).unwrap_or(0))
}

pub(crate) fn now(call: &Call) -> i64 {
    i64::try_from(call.now()).unwrap_or(i64::MAX)
}
