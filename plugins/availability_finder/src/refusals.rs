//! The refusals, each with the next step that helps.

use crate::types::*;
use people_kit::text::{Fault, TextError, Violations};
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = FinderError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum FinderError {
    /// There is no such group, or you take no part in it.
    #[refusal(not_found, next = list())]
    GroupNotFound,
    /// There is no such hold, or it has ended.
    #[refusal(not_found, next = list())]
    HoldNotFound,
    /// There is no such poll, or you take no part in it.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list_polls"))]
    PollNotFound,
    /// There is no such booking, or you take no part in it.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list_bookings"))]
    BookingNotFound,
    /// There is no such booking link, or nobody can be booked by it now.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list_links"))]
    LinkNotFound,
    /// Some of these people cannot be asked by you now: see `conflict`. Invite the others.
    #[refusal(conflict, conflict_detail = Violations::new(errors), next = list())]
    RecipientNotAccepting { errors: Vec<Fault> },
    /// Too few people of this group have agreed to be asked. Wait for their answers.
    #[refusal(conflict, conflict_detail = Limit::bound("least_people", least), next = get(&group_id))]
    NotEnoughPeople { group_id: String, least: u64 },
    /// The people of this group have agreed to be asked, and not to be booked. Begin a group with `may_book`.
    #[refusal(conflict, next = get(&group_id))]
    BookingNotAgreed { group_id: String },
    /// Not everybody who is needed can be booked at this time. Ask for other times.
    #[refusal(
        conflict,
        retryable,
        keep_writes,
        conflict_detail = json!({ "kind": "schedule", "start": start }),
        next = step
    )]
    SlotTaken { start: String, step: Next },
    /// A limit of this booking link is reached: see `conflict`. Choose another day, or another link.
    #[refusal(conflict, conflict_detail = Limit::reached(name, limit), next = link_times(&link_id))]
    BookingLimitReached { link_id: String, name: &'static str, limit: u64 },
    /// Too many are open: see `conflict`. Close or release one first.
    #[refusal(conflict, conflict_detail = Limit::reached(name, limit), next = list())]
    OpenLimitReached { name: &'static str, limit: u64 },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl FinderError {
    pub(crate) fn invalid(pointer: &str, rule: &str, expected: &str) -> Self {
        Self::Common(Refusal::validation(pointer, rule, expected))
    }

    /// Makes the refusal of a time, without who cannot or why.
    pub(crate) fn taken(start: u64, step: Next) -> Self {
        Self::SlotTaken { start: rfc3339(start), step }
    }
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

pub(crate) fn get(group_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("group_id", group_id)
}

pub(crate) fn get_poll(poll_id: &str) -> Next {
    Next::action(CAPABILITY, "get_poll").field("poll_id", poll_id)
}

pub(crate) fn get_booking(booking_id: &str) -> Next {
    Next::action(CAPABILITY, "get_booking").field("booking_id", booking_id)
}

pub(crate) fn get_link(link_id: &str) -> Next {
    Next::action(CAPABILITY, "get_link").field("link_id", link_id)
}

pub(crate) fn link_times(link_id: &str) -> Next {
    Next::action(CAPABILITY, "link_times").field("link_id", link_id)
}

pub(crate) fn find(group_id: &str, duration_min: u32) -> Next {
    Next::action(CAPABILITY, "find").field("group_id", group_id).field("duration_min", duration_min)
}
