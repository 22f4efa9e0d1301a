//! The capability `calendar`: when people are free.
//!
//! A person is busy because of blocks, which they add or import, and reservations, which other
//! capabilities make for meetings. Others see only that the person is busy, and only if they may;
//! `reserve` never gives the same time to two concurrent calls.

mod blocks;
mod busy;
mod cells;
#[cfg(test)]
mod cells_model;
mod events;
mod expand;
mod freebusy;
mod hours;
mod ics;
mod documents;
mod intents;
mod limits;
mod person_page;
mod refusals;
mod reserve;
mod rule;
mod series;
mod spans;
mod subscriptions;
mod types;
mod zones;

use freebusy::{FREEBUSY_ADDRESSES, FreebusyFile, FreebusySecret, PublishedFreebusy};
use ics::types::{Exported, ImportIcs, Imported};
use people_kit::calendar::{
    AlternativesQuery, Cells, CellsQuery, Free, FreeQuery, Release, Reserve, Slots,
};
use portolan_sdk::{Published, Tool, lookups::AnsweredFile, prelude::*};
use refusals::{CalendarError, list};
use subscriptions::{
    AboutSubscription, FAILED, SUBSCRIPTION, SUBSCRIPTIONS, Subscribe, SubscriptionInput,
    SubscriptionView, Unsubscribed,
};
use types::*;

/// The capability.
pub struct CalendarCapability;

/// When people are free: blocks, availability, calendar files, and calendars elsewhere.
///
/// All agents of a person share one calendar. The person is busy during blocks, once or recurring,
/// added here or imported from a file, and during the meetings for which others reserve time.
///
/// Local times decide: a block at nine is at nine after every change of the clock. A time that the
/// clock skips is moved forward by the skipped length, and a time that it shows twice is the first
/// of the two. The same is true of ends: a recurring block from ten in the evening until six ends
/// at six, even in a night that is an hour longer or shorter, as programs that read calendars do;
/// RFC 5545 (3.8.5.3) would keep the length of the first one.
///
/// Others see when somebody is busy only with the relation `can_see_freebusy` to the person, or
/// `scheduler` to their calendar (`social_permissions`), and never why.
///
/// A calendar elsewhere that is published at an address is read about every six hours (`subscribe`), and
/// other programs can read when the person is busy at a secret address (`publish_freebusy`).
#[capability(
    id = "calendar",
    consequence = portolan_sdk::Consequence::of("own"),
    title = "Calendar",
    tags = ["time", "meetings", "privacy"],
    invokes = [people_kit::relations::ALLOWED],
    collections =
        [CALENDARS, AVAILABILITIES, BLOCKS, RESERVATIONS, SUBSCRIPTIONS, FREEBUSY_ADDRESSES],
    state_machines = [SUBSCRIPTION],
    tools = [
        Tool {
            name: "subscriptions",
            title: "Follow calendars elsewhere",
            description: "Subscribe to a calendar that another program publishes at an address, read it again now, or end it.\n\
                Use it when the person's appointments are in another calendar that goes on changing; for a file that is \
                read once use `import_ics`.",
            actions: &["subscribe", "refresh_subscription", "unsubscribe"],
            default: false,
        },
        Tool {
            name: "free_busy",
            title: "Publish busy times",
            description: "Get, replace or end the secret address at which other programs read when the person is busy.\n\
                Use it for people with calendar programs elsewhere; people here are given `can_see_freebusy` with \
                `social_permissions` instead.",
            actions: &["publish_freebusy", "rotate_freebusy", "unpublish_freebusy"],
            default: false,
        },
    ]
)]
impl CalendarCapability {
    /// See when somebody is busy.
    ///
    /// The periods cover the whole requested range: `BUSY` is a meeting or a block,
    /// `BUSY-UNAVAILABLE` is outside of the person's availability, `BUSY-TENTATIVE` is an
    /// unconfirmed meeting. If several apply, the first of these is returned. No period says what
    /// it is. For an agent that nobody has claimed, the own calendar is empty, and `next` is the
    /// way to a claim.
    #[action(
        access = read, idempotent, example = json!({ "start": "2026-11-23T00:00:00Z", "end": "2026-11-30T00:00:00Z" }),
        intents = intents::GET_FREEBUSY
    )]
    fn get_freebusy(call: &Call, input: FreebusyInput) -> Result<Answer<Freebusy>, CalendarError> {
        let FreebusyInput { owner_id, start, end } = input;
        let owner_id = match call.owner_id() {
            Some(me) if owner_id == ME || owner_id == me => me,
            None if owner_id == ME => {
                let nothing = Freebusy { start, end, periods: Vec::new() };
                return Ok(Answer::new(nothing).next(Next::claim()));
            }
            _ => busy::permit(call, &owner_id).map(|()| owner_id.as_str())?,
        };
        Ok(Answer::new(busy::freebusy(owner_id, busy::range(&start, &end)?)?))
    }

    /// See the hours in which others can book the person.
    #[action(access = read, idempotent, intents = intents::GET_AVAILABILITY)]
    fn get_availability(call: &Call) -> Result<Answer<Availability>, CalendarError> {
        let Some(owner_id) = call.owner_id() else {
            return Ok(Answer::new(hours::view(None)).next(Next::claim()));
        };
        Ok(Answer::new(hours::view(documents::hours(owner_id)?)))
    }

    /// Set the hours in which others can book the person.
    ///
    /// It replaces all of the availability before. As long as none is set, every hour can be
    /// booked.
    #[action(access = write, idempotent, intents = intents::SET_AVAILABILITY, example = json!({
        "rules": [{ "days": ["MO", "TU", "WE", "TH", "FR"], "from": "09:00", "to": "17:30" }],
        "time_zone": "America/Los_Angeles",
        "buffer_min": 10, "min_notice_min": 120, "max_per_day": 6, "horizon_days": 60,
    }))]
    fn set_availability(call: &Call, input: SetHours) -> Result<Availability, CalendarError> {
        hours::set(call.require_owner()?, input)
    }

    /// Set time aside, once or repeatedly.
    ///
    /// `label` is only for the person. A local time without an offset is in `time_zone`. Somebody with the
    /// relation `scheduler` to `calendar:OWNER_ID` (`social_permissions`) sets time aside in that person's
    /// calendar with `owner_id`; the person sees the block like their own, and removes it.
    #[action(access = write, consequence = portolan_sdk::Consequence::of("meeting").about(&["owner_id"]),
        intents = intents::ADD_BLOCK, example = json!({
        "start": "2026-11-23T12:30:00", "end": "2026-11-23T13:30:00",
        "time_zone": "America/Los_Angeles",
        "rrule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "label": "Lunch",
    }))]
    fn add_block(call: &Call, input: AddBlock) -> Result<Answer<BlockView>, CalendarError> {
        blocks::add(call, input)
    }

    /// Remove a block with all its occurrences.
    ///
    /// A block of a subscription is refused: it is changed where its calendar is, or ends with the
    /// subscription.
    #[action(
        access = write, idempotent, destructive, example = json!({ "block_id": "blk_01JZX8Q4M2N6P7R8S9T0V1W2X3" }),
        intents = intents::REMOVE_BLOCK
    )]
    fn remove_block(call: &Call, input: BlockInput) -> Result<Removed, CalendarError> {
        blocks::remove(call, input)
    }

    /// List the person's own meetings, holds and blocks, each occurrence by itself.
    ///
    /// For an agent that nobody has claimed it is empty, and `next` is the way to a claim.
    #[action(access = read, idempotent, intents = intents::LIST_EVENTS, example = json!({
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
    /// It reads iCalendar (RFC 5545): events and busy times, with all rules of the Gregorian
    /// calendar of up to 96 occurrences a day, or 1000 of all rules together, and time zones that the
    /// file defines itself. The same UID replaces the block of an earlier import. An event with an
    /// error is left out and named in `skipped`; parts that a calendar here does not store are listed
    /// in `unsupported`. A file that is no calendar changes nothing, and neither does one with which the
    /// person would have more than 400 blocks.
    #[action(
        access = write, idempotent, example = json!({ "ics": EXAMPLE_FILE }),
        intents = intents::IMPORT_ICS
    )]
    fn import_ics(call: &Call, input: ImportIcs) -> Result<Answer<Imported>, CalendarError> {
        Ok(Answer::new(ics::import::import(call, input)?).next(list()))
    }

    /// Export the person's calendar as a file for other calendars.
    ///
    /// It writes iCalendar (RFC 5545), with titles: everything that did not end more than a month
    /// ago.
    #[action(access = read, idempotent, intents = intents::EXPORT_ICS)]
    fn export_ics(call: &Call) -> Result<Answer<Exported>, CalendarError> {
        let Some(owner_id) = call.owner_id() else {
            let nothing = Exported { ics: String::new(), events: 0 };
            return Ok(Answer::new(nothing).next(Next::claim()));
        };
        Ok(Answer::new(ics::export::export(call, owner_id)?))
    }

    /// Subscribe to a calendar elsewhere, so that its events are blocks here.
    ///
    /// It is read now, and then about every six hours. The events make blocks like those of an
    /// import, and count with them; an event that leaves the calendar leaves the person's as well. At
    /// most 5 calendars, and 10 subscriptions in a day.
    #[action(
        access = write, intents = intents::SUBSCRIBE,
        example = json!({ "url": "webcal://calendar.example/private-7f3a/basic.ics", "label": "Work" })
    )]
    fn subscribe(call: &Call, input: Subscribe) -> Result<Answer<SubscriptionView>, CalendarError> {
        subscriptions::subscribe(call, input)
    }

    /// List the calendars elsewhere that the person subscribes to, with the last reading of each.
    #[action(
        access = read, idempotent, intents = intents::LIST_SUBSCRIPTIONS,
        person_page = person_page::subscriptions()
    )]
    fn list_subscriptions(call: &Call) -> Result<Answer<Items<SubscriptionView>>, CalendarError> {
        Items::own(call, subscriptions::list)
    }

    /// Read a calendar elsewhere again now, at most once in 15 minutes.
    ///
    /// A subscription that has failed is read regularly again.
    #[action(
        access = write, emits = [FAILED], intents = intents::REFRESH_SUBSCRIPTION,
        person_page = person_page::refresh(), example = json!({ "subscription_id": SUBSCRIPTION_ID })
    )]
    fn refresh_subscription(
        call: &Call,
        input: SubscriptionInput,
    ) -> Result<Answer<SubscriptionView>, CalendarError> {
        subscriptions::refresh(call, &input)
    }

    /// End a subscription to a calendar elsewhere, and remove its blocks.
    #[action(
        access = write, destructive, intents = intents::UNSUBSCRIBE,
        person_page = person_page::unsubscribe(), example = json!({ "subscription_id": SUBSCRIPTION_ID })
    )]
    fn unsubscribe(call: &Call, input: SubscriptionInput) -> Result<Unsubscribed, CalendarError> {
        subscriptions::unsubscribe(call, &input)
    }

    /// Get a secret address at which calendar programs read when the person is busy.
    ///
    /// It has the busy times of the last 7 and the next 60 days, joined, without titles and reasons.
    /// The same call returns the same address again. Whoever has it can read the times: give it only to
    /// people and programs that may know them.
    #[action(
        access = write, idempotent, intents = intents::PUBLISH_FREEBUSY,
        person_page = person_page::publish()
    )]
    fn publish_freebusy(call: &Call) -> Result<PublishedFreebusy, CalendarError> {
        freebusy::publish(call)
    }

    /// See the secret address of the person's busy times.
    #[action(
        access = read, idempotent, intents = intents::FREEBUSY_ADDRESS,
        person_page = person_page::freebusy()
    )]
    fn freebusy_address(call: &Call) -> Result<Answer<PublishedFreebusy>, CalendarError> {
        let address = Answer::new(freebusy::address(call.owner_id())?);
        Ok(match call.owner_id() {
            Some(_) => address,
            None => address.next(Next::claim()),
        })
    }

    /// Replace the secret address of the person's busy times by another one.
    ///
    /// The former address stops working at once.
    #[action(
        access = write, destructive, intents = intents::ROTATE_FREEBUSY,
        person_page = person_page::rotate()
    )]
    fn rotate_freebusy(call: &Call) -> Result<PublishedFreebusy, CalendarError> {
        freebusy::rotate(call)
    }

    /// End the secret address of the person's busy times.
    #[action(
        access = write, idempotent, destructive, intents = intents::UNPUBLISH_FREEBUSY,
        person_page = person_page::unpublish()
    )]
    fn unpublish_freebusy(call: &Call) -> Result<PublishedFreebusy, CalendarError> {
        freebusy::unpublish(call)
    }

    /// Return the busy times of a secret address as a calendar file.
    #[action(
        access = internal, idempotent,
        annotations = [(portolan_sdk::PUBLISHED, Published::of("text/calendar"))]
    )]
    fn published_freebusy(
        call: &Call,
        input: FreebusySecret,
    ) -> Result<FreebusyFile, CalendarError> {
        freebusy::file(call, &input)
    }

    /// Request a reading of a subscription whose time has come.
    #[action(access = internal, emits = [FAILED])]
    fn poll_subscription(call: &Call, input: AboutSubscription) -> Result<(), CalendarError> {
        subscriptions::poll(call, &input)
    }

    /// Take the answer to a reading of a subscription into the calendar.
    #[action(access = internal, idempotent, emits = [FAILED])]
    fn take_calendar(
        call: &Call,
        answer: AnsweredFile<AboutSubscription>,
    ) -> Result<(), CalendarError> {
        subscriptions::take(call, answer)
    }

    /// Reserve the time of all these people, or refuse.
    ///
    /// A firm reservation is refused if it overlaps a block or another firm reservation. The same
    /// `ref` replaces its earlier reservation.
    #[action(
        access = internal,
        consequence = portolan_sdk::Consequence::of("meeting"),
        callers = ["availability_finder", "thread_meetings"], idempotent)]
    fn reserve(call: &Call, input: Reserve) -> Result<(), CalendarError> {
        reserve::reserve(call, input)
    }

    /// Release a reservation.
    #[action(access = internal, callers = ["availability_finder", "thread_meetings"], idempotent)]
    fn release(_call: &Call, input: Release) -> Result<(), CalendarError> {
        reserve::release(&input.reference)
    }

    /// Return which slots are free for all these people.
    ///
    /// The availability of all people except the caller is considered.
    #[action(access = internal, callers = ["thread_meetings"], idempotent)]
    fn free(call: &Call, input: FreeQuery) -> Result<Free, CalendarError> {
        reserve::free(call, input)
    }

    /// Find times at which all these people can be booked.
    #[action(access = internal, callers = ["thread_meetings"], idempotent)]
    fn alternatives(call: &Call, input: AlternativesQuery) -> Result<Slots, CalendarError> {
        reserve::alternatives(call, input)
    }

    /// Return in which quarters of an hour others can book these people.
    ///
    /// A quarter in which a person is busy for a moment is not free.
    #[action(access = internal, callers = ["availability_finder"], idempotent)]
    fn cells(call: &Call, input: CellsQuery) -> Result<Cells, CalendarError> {
        cells::cells(call, input)
    }
}

const SUBSCRIPTION_ID: &str = "sub_01JZX8Q4M2N6P7R8S9T0V1W2X3";

const EXAMPLE_FILE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n\
    BEGIN:VEVENT\r\nUID:19970901T130000Z-123401@example.com\r\nDTSTAMP:20261101T120000Z\r\n\
    DTSTART;TZID=America/Los_Angeles:20990105T090000\r\n\
    DTEND;TZID=America/Los_Angeles:20990105T100000\r\n\
    RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=10\r\nSUMMARY:Yoga\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
