//! The states of groups, of people in them, of polls, links and bookings, and the transitions between them.

use portolan_sdk::prelude::*;

/// The state of a group, a poll or a link.
#[choice(States)]
pub(crate) enum State {
    Open,
    Closed,
}

/// A person's answer to the invitation into a group.
#[choice(States)]
pub(crate) enum Membership {
    Invited,
    /// The person's time counts in answers.
    Accepted,
    Declined,
    /// The person has left, or can no longer be asked.
    Left,
}

#[choice(States)]
pub(crate) enum BookingState {
    Confirmed,
    Cancelled,
}

use State::{Closed, Open};

pub(crate) const GROUP: Machine<State> = Machine::new(
    "group",
    &[
        Transition::new("invite", &[], &[Open]),
        Transition::new("find", &[Open], &[]),
        Transition::new("hold", &[Open], &[]),
        Transition::new("open_poll", &[Open], &[]),
        Transition::new("book", &[Open], &[]),
        Transition::new("close", &[Open], &[Closed]),
        Transition::internal("expire", &[Open], &[Closed]),
    ],
)
.read_by("availability_finder", "get", "group_id");

pub(crate) const MEMBERSHIP: Machine<Membership> = Machine::new(
    "membership",
    &[
        Transition::new("invite", &[], &[Membership::Invited]),
        Transition::new(
            "accept",
            &[Membership::Invited, Membership::Declined, Membership::Left],
            &[Membership::Accepted],
        ),
        Transition::new("decline", &[Membership::Invited], &[Membership::Declined]),
        Transition::new("leave", &[Membership::Accepted], &[Membership::Left]),
    ],
)
.read_by("availability_finder", "get", "group_id");

pub(crate) const POLL: Machine<State> = Machine::new(
    "poll",
    &[
        Transition::new("open_poll", &[], &[Open]),
        // The last vote closes it.
        Transition::new("vote", &[Open], &[Open, Closed]),
        Transition::new("close_poll", &[Open], &[Closed]),
        Transition::internal("end_poll", &[Open], &[Closed]),
    ],
)
.read_by("availability_finder", "get_poll", "poll_id");

pub(crate) const LINK: Machine<State> = Machine::new(
    "link",
    &[
        Transition::new("create_link", &[], &[Open]),
        Transition::new("link_times", &[Open], &[]),
        Transition::new("book_link", &[Open], &[]),
        Transition::new("close_link", &[Open], &[Closed]),
    ],
)
.read_by("availability_finder", "get_link", "link_id");

pub(crate) const BOOKING: Machine<BookingState> = Machine::new(
    "booking",
    &[
        Transition::new("book", &[], &[BookingState::Confirmed]),
        Transition::new("book_link", &[], &[BookingState::Confirmed]),
        Transition::new("cancel_booking", &[BookingState::Confirmed], &[BookingState::Cancelled]),
        Transition::internal("part", &[BookingState::Confirmed], &[BookingState::Cancelled]),
    ],
)
.read_by("availability_finder", "get_booking", "booking_id");
