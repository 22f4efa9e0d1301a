//! The capability `calendar`: when people are free.
//!
//! A person's time is taken by blocks, which they add or import, and by reservations, which other
//! capabilities make for meetings. Others see of it no more than that it is taken, and that only where
//! they may; `reserve` lets two at the same moment never have the same time.

mod blocks;
mod busy;
mod events;
mod expand;
mod hours;
mod ics;
mod kept;
mod limits;
mod refusals;
mod reserve;
mod rule;
mod series;
mod spans;
mod types;
mod zones;

use ics::types::{Exported, ImportIcs, Imported};
use people_kit::calendar::{Free, Release, Reserve, Slots, Wanted, WhoIsFree};
use portolan_sdk::prelude::*;
use refusals::{CalendarError, list};
use types::*;

struct CalendarCapability;

/// When people are free: blocks, the hours to be booked in, files of calendars.
///
/// A calendar is the person's, whichever of their agents calls. What is in the way are blocks, once
/// or repeated, added here or imported from a file, and the meetings that others reserve time for.
/// Local times win: a block at nine is at nine whatever the clocks have been changed to; a time that
/// a clock skips is as much later, and one that it shows twice is the first. So do ends: what is
/// repeated from ten in the evening to six ends at six, also in a night that is an hour longer or
/// shorter, as programs that read calendars have it; RFC 5545 (3.8.5.3) would have it as long as the
/// first. Others see when somebody is busy only with the relation `can_see_freebusy`
/// (`social_permissions`), and never why.
#[capability(
    id = "calendar",
    title = "Calendar",
    tags = ["time", "meetings", "privacy"],
    collections = [CALENDARS, AVAILABILITIES, BLOCKS, RESERVATIONS]
)]
impl CalendarCapability {
    /// See when somebody is busy.
    ///
    /// The whole time that is asked about, in pieces: `BUSY` is a meeting or a block,
    /// `BUSY-UNAVAILABLE` outside of the hours that the person has set, `BUSY-TENTATIVE` what may
    /// come. Where several hold, that order says which is told. Nothing tells what it is. For an
    /// agent that nobody has claimed, its own person's is empty, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = json!({ "start": "2026-11-23T00:00:00Z", "end": "2026-11-30T00:00:00Z" }))]
    fn get_freebusy(call: &Call, input: FreebusyInput) -> Result<Answer<Freebusy>, CalendarError> {
        let owner_id = match (input.owner_id == me(), call.owner_id()) {
            (true, None) => {
                let FreebusyInput { start, end, .. } = input;
                let nothing = Freebusy { start, end, periods: Vec::new() };
                return Ok(Answer::new(nothing).next(Next::claim()));
            }
            (true, Some(owner_id)) => owner_id.to_owned(),
            (false, _) => input.owner_id,
        };
        if call.owner_id() != Some(owner_id.as_str()) {
            busy::permit(call, &owner_id)?;
        }
        let range = busy::range(&input.start, &input.end)?;
        Ok(Answer::new(busy::freebusy(&owner_id, range)?))
    }

    /// See the hours in which others can book the person.
    #[action(access = read, idempotent)]
    fn get_availability(call: &Call) -> Result<Answer<Availability>, CalendarError> {
        let Some(owner_id) = call.owner_id() else {
            return Ok(Answer::new(hours::view(None)).next(Next::claim()));
        };
        Ok(Answer::new(hours::view(kept::hours(owner_id)?)))
    }

    /// Set the hours in which others can book the person.
    ///
    /// All of it, in place of what was set. As long as nothing is set, every hour is one.
    #[action(access = write, idempotent, example = json!({
        "rules": [{ "days": ["MO", "TU", "WE", "TH", "FR"], "from": "09:00", "to": "17:30" }],
        "time_zone": "America/Los_Angeles",
        "buffer_min": 10, "min_notice_min": 120, "max_per_day": 6, "horizon_days": 60,
    }))]
    fn set_availability(call: &Call, input: SetHours) -> Result<Availability, CalendarError> {
        hours::set(call.require_owner()?, input)
    }

    /// Set time aside, once or again and again.
    ///
    /// `label` is for the person alone. A local time without an offset is one of `time_zone`.
    #[action(access = write, example = json!({
        "start": "2026-11-23T12:30:00", "end": "2026-11-23T13:30:00",
        "time_zone": "America/Los_Angeles",
        "rrule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "label": "Lunch",
    }))]
    fn add_block(call: &Call, input: AddBlock) -> Result<Answer<BlockView>, CalendarError> {
        Ok(Answer::new(blocks::add(call, input)?).next(list()))
    }

    /// Remove a block, with all its repetitions.
    #[action(access = write, idempotent, destructive, example = json!({ "block_id": "blk_01JZX8Q4M2N6P7R8S9T0V1W2X3" }))]
    fn remove_block(call: &Call, input: BlockInput) -> Result<Removed, CalendarError> {
        blocks::remove(call, input)
    }

    /// List the person's own meetings, holds and blocks, each repetition by itself.
    ///
    /// For an agent that nobody has claimed it is empty, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = json!({
        "start": "2026-11-23T00:00:00Z", "end": "2026-11-30T00:00:00Z",
    }))]
    fn list_events(
        call: &Call,
        input: ListEvents,
    ) -> Result<Answer<Items<types::Event>>, CalendarError> {
        Items::own(call, |owner_id| events::list(call, owner_id, input))
    }

    /// Import a file of another calendar, as blocks.
    ///
    /// iCalendar (RFC 5545): events and busy times. The same UID again replaces what it brought
    /// before. Rules beyond those of `add_block` are told in `unsupported`, and the first occurrence is
    /// taken. A file that cannot be read changes nothing.
    #[action(access = write, idempotent, example = json!({ "ics": EXAMPLE_FILE }))]
    fn import_ics(call: &Call, input: ImportIcs) -> Result<Answer<Imported>, CalendarError> {
        Ok(Answer::new(ics::import::import(call, input)?).next(list()))
    }

    /// Export the person's calendar as a file for other calendars.
    ///
    /// iCalendar (RFC 5545), with titles; everything that was not over a month ago.
    #[action(access = read, idempotent)]
    fn export_ics(call: &Call) -> Result<Answer<Exported>, CalendarError> {
        let Some(owner_id) = call.owner_id() else {
            let nothing = Exported { ics: String::new(), events: 0 };
            return Ok(Answer::new(nothing).next(Next::claim()));
        };
        Ok(Answer::new(ics::export::export(call, owner_id)?))
    }

    /// Reserve the time of all these people, or of nobody.
    ///
    /// A firm reservation is refused where a block or another firm one is. The same `ref` again
    /// replaces what it reserved before.
    #[action(access = internal, idempotent)]
    fn reserve(call: &Call, input: Reserve) -> Result<(), CalendarError> {
        reserve::reserve(call, input)
    }

    /// Give back what was reserved.
    #[action(access = internal, idempotent)]
    fn release(_call: &Call, input: Release) -> Result<(), CalendarError> {
        reserve::release(&input.reference)
    }

    /// Tell which slots all these people have free.
    ///
    /// The hours that people have set count for everybody but the one who calls.
    #[action(access = internal, idempotent)]
    fn free(call: &Call, input: WhoIsFree) -> Result<Free, CalendarError> {
        reserve::free(call, input)
    }

    /// Find times at which all these people can be booked.
    #[action(access = internal, idempotent)]
    fn alternatives(call: &Call, input: Wanted) -> Result<Slots, CalendarError> {
        reserve::alternatives(call, input)
    }
}

const EXAMPLE_FILE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n\
    BEGIN:VEVENT\r\nUID:19970901T130000Z-123401@example.com\r\nDTSTAMP:20261101T120000Z\r\n\
    DTSTART;TZID=America/Los_Angeles:20990105T090000\r\n\
    DTEND;TZID=America/Los_Angeles:20990105T100000\r\n\
    RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=10\r\nSUMMARY:Yoga\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
