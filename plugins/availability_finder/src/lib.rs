//! The capability `availability_finder`: times that suit several people, without showing anybody's calendar.
//!
//! Calendars are read in cells of a quarter of an hour. An answer says which times suit, and at most how many
//! people cannot; what can be inferred from it is bounded by the rule in `limits` and `asking`.

mod asking;
mod bookings;
mod cells;
mod documents;
mod find;
mod groups;
mod held;
mod holds;
mod intents;
mod limits;
mod links;
mod notices;
mod person_page;
mod polls;
mod refusals;
mod search;
mod states;
mod types;
mod views;

#[cfg(test)]
mod tests;

use documents::{BOOKINGS, DAYS, GROUPS, HELD, HOLDS, LINKS, OWN_GROUPS, OWN_LINKS, POLLS};
use people_kit::{people, relations};
use portolan_sdk::{Tool, prelude::*};
use refusals::FinderError;
use states::{BOOKING, GROUP, LINK, MEMBERSHIP, POLL};
use types::*;
use views::{BookingView, Found, GroupView, HoldView, LinkFound, LinkView, PollView, Released};

struct AvailabilityFinder;

/// Find times that suit 2 to 20 people across time zones, without showing anybody's calendar.
///
/// A person invites others into a group (`invite`); those who `accept` agree that their time counts in
/// answers. `find` answers times at which all of them are free and available, as their `calendar` has it: their
/// working hours in their own zone, buffers, minimum notice, meetings and blocks. A time can then be held for
/// some minutes (`hold`), put to a vote (`open_poll`), or booked (`book`): all people, or one in turn. A booking
/// is in the calendars of all who take part. By a booking link, others book a person or a group.
///
/// Inferences about a person are bounded. Answers are on a grid of 15 minutes, and have at most ten times in a
/// window of at most 14 days. They say how many people cannot, and only if at least four have agreed; never who,
/// nor why. Only the organizer asks, at most 20 times within 24 hours about a group, and a person's calendar
/// counts in at most 60 questions of others; a hold or a booking is a question too. Somebody who has agreed as one
/// of three or more people is not asked alone. Everybody in a group sees how often it was asked, and can leave. A
/// booking link shows those who have it when its people can be booked, to each guest at most 40 times a day; for a
/// group, each time is a question too: a guest has at most 4 of the group's 20, and all guests together 10.
#[capability(
    id = "availability_finder",
    consequence = portolan_sdk::Consequence::of("meeting"),
    title = "Times with others",
    tags = ["time", "meetings", "privacy", "people"],
    invokes = [
        people_kit::calendar::CELLS,
        people_kit::calendar::RELEASE,
        people_kit::calendar::RESERVE,
        people::PEOPLE,
        relations::ALLOWED,
        relations::HIDDEN,
    ],
    collections = [GROUPS, OWN_GROUPS, DAYS, HOLDS, HELD, POLLS, LINKS, OWN_LINKS, BOOKINGS],
    state_machines = [GROUP, MEMBERSHIP, POLL, LINK, BOOKING],
    tools = [
        Tool {
            name: "find",
            title: "Find times for several people",
            description: "Ask people whether they can be asked for times, find times that suit all of them, and hold or book one.\n\
                Use it to meet with one to nineteen others without seeing their calendars. For when one person \
                is busy use `calendar` `get_freebusy`; to propose times in a conversation use \
                `thread_meetings` `propose`.",
            actions: &["invite", "find", "hold", "release_hold", "book"],
            default: false,
        },
        Tool {
            name: "answer",
            title: "Answer invitations and polls",
            description: "Agree to be asked for times or leave, and vote for the times of a poll.\n\
                Use it when the person was invited into a group or asked to vote.",
            actions: &["accept", "decline", "leave", "vote"],
            default: false,
        },
        Tool {
            name: "links",
            title: "Book by a link",
            description: "Let others book the person by a link, and book by the link of another person.\n\
                Use it to publish or close a booking link, to see the times of one, and to book one of them.",
            actions: &["create_link", "link_times", "book_link"],
            default: false,
        },
    ]
)]
impl AvailabilityFinder {
    /// Invite people into a group whose common times you look for.
    ///
    /// Each gets the event `availability.invited`, and accepts or declines. Invite only people who accept
    /// messages from the person. A group is open for 90 days.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("meeting").about(&["owner_ids"]).first_contact(),
        emits = [INVITED], intents = intents::INVITE,
        example = json!({ "owner_ids": [PERSON], "title": "The plan for the garden" }),
        example = json!({ "owner_ids": [PERSON], "title": "Interviews for the studio", "may_book": true })
    )]
    fn invite(call: &Call, input: Invite) -> Result<Answer<GroupView>, FinderError> {
        groups::invite(call, input)
    }

    /// Accept an invitation, so that your time counts in a group.
    ///
    /// From now on, the organizer finds times that suit you and the others. Nobody sees your calendar.
    #[action(
        access = write, idempotent, emits = [ANSWERED], intents = intents::ACCEPT,
        person_page = person_page::accept(), example = json!({ "group_id": GROUP_ID })
    )]
    fn accept(call: &Call, input: GroupStep) -> Result<Answer<GroupView>, FinderError> {
        groups::answer(call, &input, "accept")
    }

    /// Decline an invitation into a group.
    #[action(
        access = write, idempotent, emits = [ANSWERED], intents = intents::DECLINE,
        person_page = person_page::decline(), example = json!({ "group_id": GROUP_ID })
    )]
    fn decline(call: &Call, input: GroupStep) -> Result<Answer<GroupView>, FinderError> {
        groups::answer(call, &input, "decline")
    }

    /// Leave a group, so that your time is not asked for any more.
    ///
    /// Meetings that are booked stay; `cancel_booking` cancels one.
    #[action(
        access = write, idempotent, emits = [ANSWERED], intents = intents::LEAVE,
        person_page = person_page::leave(), example = json!({ "group_id": GROUP_ID })
    )]
    fn leave(call: &Call, input: GroupStep) -> Result<Answer<GroupView>, FinderError> {
        groups::answer(call, &input, "leave")
    }

    /// Close a group for all.
    ///
    /// Nobody is asked any more, and it is deleted a month later. Booked meetings stay.
    #[action(
        access = write, destructive, intents = intents::CLOSE,
        person_page = person_page::close(), example = json!({ "group_id": GROUP_ID })
    )]
    fn close(call: &Call, input: GroupStep) -> Result<Answer<GroupView>, FinderError> {
        groups::close(call, &input)
    }

    /// Get a group, with what you have answered and how often it was asked.
    #[action(
        access = read, idempotent, intents = intents::GET,
        example = json!({ "group_id": GROUP_ID })
    )]
    fn get(call: &Call, input: GroupInput) -> Result<GroupView, FinderError> {
        groups::read(call, &input.group_id)
    }

    /// List the groups that the person has begun or is invited into, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(
        access = read, idempotent, example = List::default(), intents = intents::LIST,
        person_page = person_page::groups()
    )]
    fn list(call: &Call, input: List) -> Result<Answer<Items<GroupView>>, FinderError> {
        Items::own(call, |me| groups::list_own(call, me, input))
    }

    /// Find times that suit all people of a group.
    ///
    /// They are free and available at each of them, and neither booked nor held. With `allow_missing`, times
    /// at which some of the others cannot follow, with their number. It counts as one question.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        no_dry_run, intents = intents::FIND,
        example = json!({ "group_id": GROUP_ID, "duration_min": 45 }),
        example = json!({
            "group_id": GROUP_ID, "duration_min": 60, "buffer_after_min": 15,
            "min_notice_min": 1440, "allow_missing": 1, "limit": 10,
        })
    )]
    fn find(call: &Call, input: Find) -> Result<Answer<Found>, FinderError> {
        find::find(call, input)
    }

    /// Hold a time for all people of a group, for some minutes.
    ///
    /// Until the hold ends, nobody finds or books this time of theirs here, and it is a tentative entry in
    /// their calendars. All must have agreed to be booked (`may_book`), and are held at most 60 minutes a day.
    #[action(
        access = write, no_dry_run, intents = intents::HOLD,
        example = json!({ "group_id": GROUP_ID, "start": START, "duration_min": 45, "hold_min": 10 })
    )]
    fn hold(call: &Call, input: HoldTime) -> Result<Answer<HoldView>, FinderError> {
        holds::hold(call, &input)
    }

    /// Release a hold before it ends by itself.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        destructive, intents = intents::RELEASE_HOLD,
        example = json!({ "hold_id": "hold_01JZX8Q4M2N6P7R8S9T0V1W2X3" })
    )]
    fn release_hold(call: &Call, input: HoldInput) -> Result<Released, FinderError> {
        holds::release(call, &input.hold_id)
    }

    /// Let the people of a group vote on times.
    ///
    /// It closes at its deadline, or when all have voted. Then the time with the fewest who cannot is chosen,
    /// of these the one that is good for most, then the earliest; `book` books it.
    #[action(
        access = write, emits = [POLL_OPENED], intents = intents::OPEN_POLL,
        example = json!({
            "group_id": GROUP_ID, "starts": [START, "2026-12-03T17:00:00Z"], "duration_min": 60,
            "closes_at": "2026-12-01T12:00:00Z",
        })
    )]
    fn open_poll(call: &Call, input: OpenPoll) -> Result<Answer<PollView>, FinderError> {
        polls::open(call, &input)
    }

    /// Vote on the times of a poll.
    ///
    /// Once it is closed, all see how many can, not who. Vote again to change your answers while the poll is open.
    #[action(
        access = write, idempotent, no_dry_run, emits = [POLL_CLOSED], intents = intents::VOTE,
        example = json!({ "poll_id": POLL_ID, "answers": ["yes", "if_needed"] })
    )]
    fn vote(call: &Call, input: CastVote) -> Result<Answer<PollView>, FinderError> {
        polls::vote(call, input)
    }

    /// Close a poll before its deadline.
    #[action(
        access = write, destructive, no_dry_run, emits = [POLL_CLOSED], intents = intents::CLOSE_POLL,
        example = json!({ "poll_id": POLL_ID })
    )]
    fn close_poll(call: &Call, input: PollStep) -> Result<Answer<PollView>, FinderError> {
        polls::close_early(call, &input)
    }

    /// Get a poll, with its counts once it is closed.
    #[action(
        access = read, idempotent, intents = intents::GET_POLL,
        example = json!({ "poll_id": POLL_ID })
    )]
    fn get_poll(call: &Call, input: PollInput) -> Result<PollView, FinderError> {
        polls::read(call, &input.poll_id)
    }

    /// List the polls in which the person can vote, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default(), intents = intents::LIST_POLLS)]
    fn list_polls(call: &Call, input: List) -> Result<Answer<Items<PollView>>, FinderError> {
        Items::own(call, |me| polls::list_own(me, input))
    }

    /// Book a time for the people of a group.
    ///
    /// All of them have to be free (`collective`), or one besides the organizer (`round_robin`): of those who
    /// are, the one with the fewest such bookings. It is refused if somebody was booked meanwhile. All must have
    /// agreed to be booked (`may_book`).
    #[action(
        access = write, no_dry_run, emits = [BOOKED], intents = intents::BOOK,
        example = json!({ "group_id": GROUP_ID, "start": START, "duration_min": 45 }),
        example = json!({
            "group_id": GROUP_ID, "start": START, "duration_min": 30, "mode": "round_robin",
        })
    )]
    fn book(call: &Call, input: Book) -> Result<Answer<BookingView>, FinderError> {
        bookings::book(call, &input)
    }

    /// Cancel a booked meeting, for all who take part.
    #[action(
        access = write, destructive, emits = [CANCELLED], intents = intents::CANCEL_BOOKING,
        person_page = person_page::cancel_booking(), example = json!({ "booking_id": BOOKING_ID })
    )]
    fn cancel_booking(call: &Call, input: BookingStep) -> Result<Answer<BookingView>, FinderError> {
        bookings::cancel(call, &input)
    }

    /// Get a booked meeting.
    #[action(
        access = read, idempotent, intents = intents::GET_BOOKING,
        example = json!({ "booking_id": BOOKING_ID })
    )]
    fn get_booking(call: &Call, input: BookingInput) -> Result<BookingView, FinderError> {
        bookings::read(call, &input.booking_id)
    }

    /// List the booked meetings of the person, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(
        access = read, idempotent, example = ListBookings::default(),
        intents = intents::LIST_BOOKINGS, person_page = person_page::bookings()
    )]
    fn list_bookings(
        call: &Call,
        input: ListBookings,
    ) -> Result<Answer<Items<BookingView>>, FinderError> {
        Items::own(call, |me| bookings::list_own(call, me, input))
    }

    /// Create a booking link.
    ///
    /// Anyone with its id can book the person, or the people of a group who have agreed to be booked, within its
    /// limits.
    #[action(
        access = write, intents = intents::CREATE_LINK,
        example = json!({
            "title": "A first call", "duration_min": 30, "buffer_after_min": 15, "min_notice_min": 720,
            "time_zone": "Europe/Lisbon", "most_per_person": 2, "most_per_day": 4,
        }),
        example = json!({
            "title": "An interview", "group_id": GROUP_ID, "mode": "round_robin", "duration_min": 45,
        })
    )]
    fn create_link(call: &Call, input: CreateLink) -> Result<Answer<LinkView>, FinderError> {
        links::create(call, input)
    }

    /// Close a booking link for good. Bookings stay.
    ///
    /// The link is deleted a month later.
    #[action(
        access = write, destructive, intents = intents::CLOSE_LINK,
        person_page = person_page::close_link(), example = json!({ "link_id": LINK_ID })
    )]
    fn close_link(call: &Call, input: LinkStep) -> Result<LinkView, FinderError> {
        links::close(call, &input)
    }

    /// Get a booking link with its terms.
    #[action(
        access = read, idempotent, intents = intents::GET_LINK,
        example = json!({ "link_id": LINK_ID })
    )]
    fn get_link(call: &Call, input: LinkInput) -> Result<LinkView, FinderError> {
        links::read(call, &input.link_id)
    }

    /// List the person's booking links, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(
        access = read, idempotent, example = List::default(), intents = intents::LIST_LINKS,
        person_page = person_page::links()
    )]
    fn list_links(call: &Call, input: List) -> Result<Answer<Items<LinkView>>, FinderError> {
        Items::own(call, |me| links::list_own(me, input))
    }

    /// Find the times at which a booking link can be booked.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        no_dry_run, intents = intents::LINK_TIMES,
        example = json!({ "link_id": LINK_ID, "limit": 10 })
    )]
    fn link_times(call: &Call, input: LinkTimes) -> Result<Answer<LinkFound>, FinderError> {
        links::times(call, &input)
    }

    /// Book a time by a booking link.
    ///
    /// It is refused if somebody was faster, or if something else is in your own calendar.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("meeting").about(&["link_id"]).first_contact(),
        no_dry_run, emits = [BOOKED], intents = intents::BOOK_LINK,
        example = json!({ "link_id": LINK_ID, "start": START })
    )]
    fn book_link(call: &Call, input: BookLink) -> Result<Answer<BookingView>, FinderError> {
        links::book(call, &input)
    }

    /// Close a group whose time has passed, or delete one that was closed a month ago.
    #[action(access = internal, idempotent)]
    fn expire(call: &Call, input: GroupInput) -> Result<(), FinderError> {
        groups::expire(call, &input.group_id)
    }

    /// End a hold whose time has passed.
    #[action(access = internal, idempotent)]
    fn expire_hold(_call: &Call, input: HoldInput) -> Result<(), FinderError> {
        held::end(&input.hold_id)
    }

    /// Close a poll at its deadline.
    #[action(access = internal, idempotent, emits = [POLL_CLOSED])]
    fn end_poll(call: &Call, input: PollInput) -> Result<(), FinderError> {
        polls::end(call, &input.poll_id)
    }

    /// Delete a booking link that was closed a month ago.
    #[action(access = internal, idempotent)]
    fn expire_link(_call: &Call, input: LinkInput) -> Result<(), FinderError> {
        links::expire(&input.link_id)
    }

    /// Delete a booking whose end was 90 days ago.
    #[action(access = internal, idempotent)]
    fn expire_booking(_call: &Call, input: BookingInput) -> Result<(), FinderError> {
        bookings::expire(&input.booking_id)
    }

    /// End the holds and cancel the bookings of two people after a block, without telling either why.
    #[action(access = internal, idempotent, on = "relationship.blocked", emits = [CANCELLED])]
    fn on_blocked(call: &Call, event: Happened<Blocked>) -> Result<(), FinderError> {
        let Blocked { blocker_id, blocked_id } = event.data;
        // The event may be delivered after the block has ended.
        if relations::are_blocked(&blocker_id, &blocked_id)? {
            bookings::cannot_meet(call, &CannotMeet { owner_ids: vec![blocker_id, blocked_id] })?;
        }
        Ok(())
    }

    /// End the holds and cancel the bookings of a person who is deactivated.
    #[action(access = internal, idempotent, on = "owner.deactivated", emits = [CANCELLED])]
    fn on_owner_deactivated(call: &Call, event: Happened<Deactivated>) -> Result<(), FinderError> {
        let owner_id = event.subject.trim_start_matches("owners/").to_owned();
        // The event may be delivered after the person has returned.
        if people::person(&owner_id)?.is_none_or(|person| !person.active) {
            bookings::cannot_meet(call, &CannotMeet { owner_ids: vec![owner_id] })?;
        }
        Ok(())
    }

    /// Continue to cancel bookings.
    #[action(access = internal, idempotent, emits = [CANCELLED])]
    fn part(call: &Call, input: CannotMeet) -> Result<(), FinderError> {
        bookings::cannot_meet(call, &input)
    }
}
