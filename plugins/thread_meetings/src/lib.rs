//! The capability `thread_meetings`: people in a conversation agree on a time.

mod access;
mod answer;
mod intents;
mod person_page;
mod proposals;
mod open_meetings;
mod ics;
mod documents;
mod states;
mod meetings;
mod members;
mod ends;
mod refusals;
mod notices;
mod times;
mod types;
mod views;

#[cfg(test)]
mod tests;

use documents::{MEETINGS, PAIRS, THREADS};
use people_kit::acquaintances::{Acquainted, TwoPeople};
use people_kit::encounters::{Encounter, EncounterQuery};
use people_kit::{people, relations};
use portolan_sdk::prelude::*;
use refusals::MeetingError;
use states::MEETING;
use types::*;
use views::{File, MeetingView};

struct ThreadMeetings;

/// Meetings: agree on a time with the people in a conversation.
///
/// Somebody proposes one to five times, and everybody else in the conversation has to accept the
/// same one: then the meeting is `confirmed`, and its time is reserved in the calendars of all of
/// them or of none. A participant who prefers another time sends a counter, at most three times in
/// total. The verbs are those of iTIP (RFC 5546), names those of JSCalendar (RFC 8984). Times are
/// instants; `time_zone` is for showing them.
///
/// `ics` returns the meeting as a file for other calendars; the file has no address. Its
/// participants have names that are not addresses. Titles, notes and reasons must not contain
/// contact data. The location may, once all have disclosed it to each other; until then it is a
/// label, such as a café's name or a link without numbers. Participants should not enter a private
/// address.
///
/// An organisation takes part with one person: whichever of its owners, admins and recruiters in the
/// conversation proposes or answers. The others of them see the meeting too, and can answer instead.
/// If that person leaves the organisation, another member attends whose calendar is free, with
/// `participation_status` `needs-action`, and all are told (`meeting.participant_changed`); if nobody is
/// free, the meeting is cancelled.
///
/// If participants can no longer meet, for whatever reason, they are not told why: the meeting is
/// `cancelled` with the reason `not_possible`. A person who leaves the conversation stays in its
/// meetings until these have ended.
#[capability(
    id = "thread_meetings",
    consequence = portolan_sdk::Consequence::of("meeting"),
    title = "Meetings",
    tags = ["meetings", "time", "people"],
    invokes = [
        people_kit::calendar::ALTERNATIVES,
        people_kit::calendar::FREE,
        people_kit::calendar::RELEASE,
        people_kit::calendar::RESERVE,
        people_kit::organisations::ACTING_MEMBERS,
        people_kit::organisations::ACTING_FOR,
        people_kit::people::PEOPLE,
        people_kit::relations::ALLOWED,
        people_kit::relations::HIDDEN,
        people_kit::relations::RELATE,
        people_kit::threads::THREAD,
    ],
    collections = [MEETINGS, THREADS, PAIRS],
    state_machines = [MEETING],
    prompts = [PREPARE_MEETING]
)]
impl ThreadMeetings {
    /// Propose a meeting.
    ///
    /// It goes to everybody else in the conversation; each has to accept the same slot. Your own
    /// calendar must be free at all slots. A conversation has at most five open meetings.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("meeting").about(&["thread_id"]),
        emits = [PROPOSED], intents = intents::PROPOSE, example = json!({
        "thread_id": "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3",
        "title": "A first look at the room",
        "duration_min": 30,
        "slots": [
            { "start": "2026-12-01T18:00:00Z", "end": "2026-12-01T18:30:00Z" },
            { "start": "2026-12-02T17:00:00Z", "end": "2026-12-02T17:30:00Z" },
        ],
        "time_zone": "America/Los_Angeles",
        "respond_by": "2026-11-30T20:00:00Z",
    }))]
    fn propose(call: &Call, input: Propose) -> Result<Answer<MeetingView>, MeetingError> {
        proposals::propose(call, input)
    }

    /// Accept a slot.
    ///
    /// When all have accepted the same one, the meeting is `confirmed`. Until then you may accept
    /// several. If somebody is no longer free, it is refused with `slot_taken` and other times, and
    /// nothing changes.
    #[action(access = write, idempotent, emits = [CONFIRMED],
        intents = intents::ACCEPT, example = json!({
        "meeting_id": MEETING_ID, "slot_id": SLOT_ID, "sequence": 0,
    }))]
    fn accept(call: &Call, input: Accept) -> Result<Answer<MeetingView>, MeetingError> {
        answer::accept(call, &input)
    }

    /// Answer tentatively that no slot is certain yet.
    ///
    /// The meeting stays `proposed`, and your earlier acceptances are withdrawn. The others see it
    /// when they read the meeting.
    #[action(access = write, idempotent, intents = intents::TENTATIVE, example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn tentative(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>, MeetingError> {
        answer::tentative(call, input)
    }

    /// Decline a meeting.
    ///
    /// It ends for all. If it was being rescheduled, its agreed time is released.
    #[action(access = write, destructive, emits = [DECLINED],
        intents = intents::DECLINE, person_page = person_page::decline(), example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn decline(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>, MeetingError> {
        answer::decline(call, input)
    }

    /// Propose other times instead.
    ///
    /// It answers another person's times, at most three times in total.
    #[action(access = write, emits = [COUNTERED], intents = intents::COUNTER, example = json!({
        "meeting_id": MEETING_ID,
        "slots": [{ "start": "2026-12-03T18:00:00Z", "end": "2026-12-03T18:30:00Z" }],
        "note": "Thursday suits me better.",
    }))]
    fn counter(call: &Call, input: CounterInput) -> Result<Answer<MeetingView>, MeetingError> {
        proposals::counter(call, input)
    }

    /// Accept a slot of a counter.
    ///
    /// It is like `accept`, and `sequence` increases.
    #[action(access = write, idempotent, emits = [CONFIRMED],
        intents = intents::ACCEPT_COUNTER, example = json!({
        "meeting_id": MEETING_ID, "slot_id": SLOT_ID,
    }))]
    fn accept_counter(
        call: &Call,
        input: AcceptCounter,
    ) -> Result<Answer<MeetingView>, MeetingError> {
        answer::accept_counter(call, &input)
    }

    /// Decline a counter.
    ///
    /// The slots before it are offered again.
    #[action(access = write, emits = [DECLINED],
        intents = intents::DECLINE_COUNTER, example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn decline_counter(
        call: &Call,
        input: AnswerInput,
    ) -> Result<Answer<MeetingView>, MeetingError> {
        answer::decline_counter(call, input)
    }

    /// Propose to move a confirmed meeting.
    ///
    /// All have to answer again; you have accepted each time that you propose. The agreed time
    /// stays reserved until then, and can be proposed again.
    #[action(access = write, emits = [RESCHEDULED], intents = intents::RESCHEDULE, example = json!({
        "meeting_id": MEETING_ID,
        "slots": [{ "start": "2026-12-03T18:00:00Z", "end": "2026-12-03T18:30:00Z" }],
    }))]
    fn reschedule(call: &Call, input: Reschedule) -> Result<Answer<MeetingView>, MeetingError> {
        proposals::reschedule(call, &input)
    }

    /// Cancel a meeting.
    ///
    /// This is possible until it has ended. Less than two hours before it begins, or later, it is
    /// marked as `late`.
    #[action(access = write, destructive, emits = [CANCELLED],
        intents = intents::CANCEL, person_page = person_page::cancel(), example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn cancel(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>, MeetingError> {
        ends::cancel(call, input)
    }

    /// Report the outcome of a meeting.
    ///
    /// This is possible from when it begins until a month later. If anybody reports that somebody
    /// was absent, it is a `no_show`; nobody is told who reported what. Report again to correct it.
    #[action(access = write, idempotent, emits = [COMPLETED],
        intents = intents::REPORT_OUTCOME, example = json!({
        "meeting_id": MEETING_ID, "outcome": "completed",
    }))]
    fn report_outcome(call: &Call, input: Report) -> Result<Answer<MeetingView>, MeetingError> {
        ends::report(call, &input)
    }

    /// Get a meeting.
    #[action(
        access = read, idempotent, example = json!({ "meeting_id": MEETING_ID }),
        intents = intents::GET
    )]
    fn get(call: &Call, input: MeetingId) -> Result<Answer<MeetingView>, MeetingError> {
        meetings::get(call, &input.meeting_id)
    }

    /// List the person's meetings, last changed first.
    ///
    /// A page may contain fewer than `limit` items although more follow: `next_cursor` says so. For
    /// an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default(), intents = intents::LIST, person_page = person_page::list())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<MeetingView>>, MeetingError> {
        Items::own(call, |me| meetings::list(call, me, input))
    }

    /// Get a meeting as a file for other calendars.
    ///
    /// It is iCalendar (RFC 5545). Its `METHOD` depends on the state: `REQUEST` while it is
    /// proposed or confirmed, `COUNTER` while other times are proposed, `CANCEL` when it does not
    /// take place. Of several times, the first is the event's, and the others are in
    /// `X-PORTOLAN-SLOT`. A time that the clock shows twice is written in UTC.
    #[action(
        access = read, idempotent, example = json!({ "meeting_id": MEETING_ID }),
        intents = intents::ICS
    )]
    fn ics(call: &Call, input: MeetingId) -> Result<File, MeetingError> {
        ics::file(call, &meetings::load_own(call, &input.meeting_id)?.0)
    }

    /// Tell whether two people have met here.
    ///
    /// It is for other capabilities.
    #[action(access = internal, callers = ["intros", "references"], idempotent)]
    fn acquainted(_call: &Call, input: TwoPeople) -> Result<Acquainted, MeetingError> {
        meetings::acquainted(&input)
    }

    /// List the people of a meeting that was confirmed and whose time is over.
    ///
    /// It is for other capabilities. The list is empty for any other meeting.
    #[action(access = internal, callers = ["references"], idempotent)]
    fn encounter(_call: &Call, input: EncounterQuery) -> Result<Encounter, MeetingError> {
        meetings::encounter(&input.id)
    }

    /// Let a meeting expire on which the participants have not agreed in time.
    #[action(access = internal, idempotent, emits = [EXPIRED])]
    fn expire(call: &Call, input: MeetingId) -> Result<(), MeetingError> {
        ends::expire(call, &input.meeting_id)
    }

    /// Complete a meeting that has ended.
    #[action(access = internal, idempotent, emits = [COMPLETED])]
    fn finish(call: &Call, input: MeetingId) -> Result<(), MeetingError> {
        ends::finish(call, &input.meeting_id)
    }

    /// Remind people of a meeting.
    #[action(access = internal, emits = [REMINDER])]
    fn remind(call: &Call, input: Due) -> Result<(), MeetingError> {
        ends::remind(call, &input)
    }

    /// Cancel the meetings of two people after a block, without telling either why.
    #[action(access = internal, idempotent, on = "relationship.blocked", emits = [CANCELLED])]
    fn on_blocked(call: &Call, event: Happened<Blocked>) -> Result<(), MeetingError> {
        let Blocked { blocker_id, blocked_id } = event.data;
        // The event may be delivered after the block has ended.
        if relations::are_blocked(&blocker_id, &blocked_id)? {
            members::cannot_meet(call, &CannotMeet { owner_ids: vec![blocker_id, blocked_id] })?;
        }
        Ok(())
    }

    /// Cancel the meetings of a person who is deactivated.
    ///
    /// A meeting for an organisation passes to another member, if there is one.
    #[action(
        access = internal, idempotent, on = "owner.deactivated",
        emits = [CANCELLED, PARTICIPANT_CHANGED]
    )]
    fn on_owner_deactivated(call: &Call, event: Happened<Left>) -> Result<(), MeetingError> {
        let owner_id = event.subject.trim_start_matches("owners/").to_owned();
        // The event may be delivered after the person has returned.
        if people::person(&owner_id)?.is_none_or(|person| !person.active) {
            members::cannot_meet(call, &CannotMeet { owner_ids: vec![owner_id] })?;
        }
        Ok(())
    }

    /// Let another member attend the meetings of one who no longer acts for an organisation.
    ///
    /// A meeting is cancelled if no other member can attend at the agreed time.
    #[action(
        access = internal, idempotent, on = "org.member_changed",
        emits = [CANCELLED, PARTICIPANT_CHANGED]
    )]
    fn on_member_changed(call: &Call, event: Happened<MemberChanged>) -> Result<(), MeetingError> {
        members::changed(call, &event.data)
    }

    /// Continue to let other members attend.
    #[action(access = internal, idempotent, emits = [CANCELLED, PARTICIPANT_CHANGED])]
    fn pass_on(call: &Call, input: MemberChanged) -> Result<(), MeetingError> {
        members::changed(call, &input)
    }

    /// Cancel the meetings of an organisation that was archived.
    #[action(access = internal, idempotent, on = "org.archived", emits = [CANCELLED])]
    fn on_org_archived(call: &Call, event: Happened<OrgArchived>) -> Result<(), MeetingError> {
        members::archived(call, &event)
    }

    /// Cancel the meetings of a conversation with a person who no longer exists.
    #[action(
        access = internal, idempotent,
        on = "application.person_gone", on = "pairing.cancelled", emits = [CANCELLED]
    )]
    fn on_pairing_cancelled(call: &Call, event: Happened<Ended>) -> Result<(), MeetingError> {
        ends::cancel_without_person(call, &event)
    }

    /// Continue to cancel meetings.
    #[action(access = internal, idempotent, emits = [CANCELLED, PARTICIPANT_CHANGED])]
    fn part(call: &Call, input: CannotMeet) -> Result<(), MeetingError> {
        members::cannot_meet(call, &input)
    }
}

const MEETING_ID: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const SLOT_ID: &str = "slot_01JZX8Q4M2N6P7R8S9T0V1W2X3";

/// The prompt with which people start to arrange a meeting.
const PREPARE_MEETING: Prompt = Prompt::new(
    "prepare_meeting",
    "Prepare a meeting",
    "Find a time with people you have a conversation with, and prepare the subject.",
    include_str!("../prompts/prepare_meeting.md"),
)
.arguments(&[
    Argument::required("with", "Whom you want to meet."),
    Argument::optional("when", "Which days and hours suit you."),
])
.requires(&["calendar", "conversations"]);
