//! The stored documents: groups of people who are asked together, holds, polls, links and bookings. All
//! stored times are milliseconds since the Unix epoch.
//!
//! The whole document of a group, a hold, a poll or a link is its organizer's or owner's. An export for anybody else
//! has only what is about them, as their views do, and nobody's has the votes of others.

use crate::{refusals::*, states::*};
use portolan_sdk::{
    documents::{
        OpenIds, Person,
        PersonalField::{Personal, Shared},
    },
    prelude::*,
};

pub(crate) const GROUPS: Collection<Group> = Collection::new("groups")
    .people(&[
        Person::delete("organizer").fields(&[Shared("$id"), Shared("title")]),
        Person::remove("members[].owner_id"),
        Person::remove("turns[].owner_id"),
        Person::remove("guests[].owner_id")
            .fields(&[Personal("guests[].owner_id"), Personal("guests[].at")]),
    ])
    .index("organizer", &["organizer"])
    .index("members", &["members[].owner_id"])
    .index("state", &["state"])
    .index("changed", &["changed_at"]);

/// The open groups of each organizer, keyed by the owner's id.
pub(crate) const OWN_GROUPS: Collection<OpenIds> =
    Collection::new("own_groups").people(&[Person::delete("$id")]);

/// Each person's actions, and how often they were asked, in the last 24 hours; keyed by the owner's id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

pub(crate) const HOLDS: Collection<Hold> = Collection::new("holds")
    .people(&[Person::delete("organizer").fields(&[Shared("$id")]), Person::remove("owner_ids[]")])
    .index("people", &["owner_ids[]"])
    .index("ends", &["ends"])
    .index("group", &["group_id", "until"]);

/// How long each organizer has held each person in the last 24 hours, keyed by both ids.
pub(crate) const HELD: Collection<Held> = Collection::new("held").people(&[
    Person::delete("$id"),
    Person::delete("organizer"),
    Person::delete("owner_id"),
]);

pub(crate) const POLLS: Collection<Poll> = Collection::new("polls")
    .people(&[
        Person::delete("organizer").fields(&[Shared("$id"), Shared("title")]),
        Person::remove("voters[]"),
        Person::remove("votes[].owner_id")
            .fields(&[Personal("votes[].owner_id"), Personal("votes[].answers")]),
    ])
    .index("voters", &["voters[]"])
    .index("group", &["group_id", "state"])
    .index("changed", &["changed_at"]);

pub(crate) const LINKS: Collection<Link> = Collection::new("links")
    .people(&[
        Person::delete("owner_id").fields(&[Shared("$id"), Shared("title")]),
        Person::remove("turns[].owner_id"),
    ])
    .index("mine", &["owner_id", "changed_at"])
    .index("state", &["state"]);

/// The open links of each person, keyed by the owner's id.
pub(crate) const OWN_LINKS: Collection<OpenIds> =
    Collection::new("own_links").people(&[Person::delete("$id")]);

pub(crate) const BOOKINGS: Collection<Booking> = Collection::new("bookings")
    .people(&[
        Person::redact("by", &[]),
        Person::redact("title_by", &[Shared("title")]),
        Person::redact("host", &[]),
        Person::remove("attendees[]"),
    ])
    .index("people", &["attendees[]"])
    .index("link", &["link_id", "state", "begins"])
    .index("guest", &["link_id", "by", "created_at"])
    .index("changed", &["changed_at"]);

/// People who are asked together for times.
#[document]
#[entity(kind = "group", collection = GROUPS, not_found = FinderError::GroupNotFound)]
pub(crate) struct Group {
    pub(crate) organizer: String,
    pub(crate) title: String,
    /// Whether those who accept also agree to be booked.
    pub(crate) may_book: bool,
    /// The number of people with whom it began, with the organizer.
    pub(crate) begun_with: u32,
    pub(crate) members: Vec<Member>,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    pub(crate) closes_at: u64,
    /// The times of the questions of the last day, also of those that guests have asked.
    pub(crate) questions: Vec<u64>,
    /// The questions of the last day that guests have asked by the group's links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) guests: Vec<GuestQuestion>,
    pub(crate) asked_at: Option<u64>,
    /// The turns of people in round-robin bookings.
    pub(crate) turns: Vec<Turn>,
}

#[document]
pub(crate) struct Member {
    pub(crate) owner_id: String,
    pub(crate) state: Membership,
    pub(crate) answered_at: Option<u64>,
    /// When the organizer was last told of an answer.
    pub(crate) told_at: Option<u64>,
}

/// A question that a guest has asked about a group.
#[document]
pub(crate) struct GuestQuestion {
    pub(crate) owner_id: String,
    pub(crate) at: u64,
}

/// How often a person was booked in turn.
#[document(PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) owner_id: String,
    pub(crate) bookings: u32,
}

/// A time that is held for all people of a group. It ends at `until`, also if its timer is late.
#[document]
pub(crate) struct Hold {
    pub(crate) group_id: String,
    pub(crate) organizer: String,
    pub(crate) owner_ids: Vec<String>,
    pub(crate) begins: u64,
    pub(crate) ends: u64,
    pub(crate) until: u64,
}

/// The times of the minutes for which an organizer has held a person, one for each minute.
#[document(Default)]
pub(crate) struct Held {
    pub(crate) organizer: String,
    pub(crate) owner_id: String,
    pub(crate) minutes: Vec<u64>,
}

#[document]
#[entity(kind = "poll", collection = POLLS, not_found = FinderError::PollNotFound)]
pub(crate) struct Poll {
    pub(crate) group_id: String,
    pub(crate) organizer: String,
    pub(crate) title: String,
    pub(crate) duration_min: u32,
    /// The starts of the offered times, in order.
    pub(crate) options: Vec<u64>,
    pub(crate) voters: Vec<String>,
    pub(crate) votes: Vec<Vote>,
    pub(crate) closes_at: u64,
    pub(crate) state: State,
    /// The start of the time that suits best, once it is closed.
    pub(crate) chosen: Option<u64>,
    pub(crate) changed_at: u64,
}

/// The answers of one person, one for each option.
#[document]
pub(crate) struct Vote {
    pub(crate) owner_id: String,
    pub(crate) answers: Vec<Suits>,
}

/// Whether an offered time suits a person.
#[choice]
pub(crate) enum Suits {
    Yes,
    /// It is possible, and another time would be better.
    IfNeeded,
    No,
}

/// A booking's attendees.
#[choice(Default)]
pub(crate) enum Mode {
    /// All people; each of them has to be free.
    #[default]
    Collective,
    /// One of them who is free: the one with the fewest bookings.
    RoundRobin,
}

#[document]
#[entity(
    kind = "link", collection = LINKS, owner = owner_id, not_found = FinderError::LinkNotFound
)]
pub(crate) struct Link {
    pub(crate) owner_id: String,
    pub(crate) title: String,
    pub(crate) terms: Terms,
    /// The group whose people are booked; without one, it is the owner alone.
    pub(crate) group_id: Option<String>,
    pub(crate) turns: Vec<Turn>,
    /// The number of confirmed bookings.
    pub(crate) booked: u32,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
}

/// The terms of a booking link.
#[input(Clone)]
pub(crate) struct Terms {
    /// The length of a meeting in minutes, a multiple of 15.
    #[schemars(range(min = 15, max = crate::limits::LONGEST_MIN), extend("multipleOf" = 15))]
    pub(crate) duration_min: u32,
    /// Whether all people of a group attend with the guest, or one of them in turn.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// The minutes before a meeting in which those who are booked have to be free too, a multiple of 15.
    #[serde(default)]
    #[schemars(range(max = crate::limits::LONGEST_BUFFER_MIN), extend("multipleOf" = 15))]
    pub(crate) buffer_before_min: u32,
    /// The same after it.
    #[serde(default)]
    #[schemars(range(max = crate::limits::LONGEST_BUFFER_MIN), extend("multipleOf" = 15))]
    pub(crate) buffer_after_min: u32,
    /// The minimum notice in minutes.
    #[serde(default)]
    #[schemars(range(max = crate::limits::LONGEST_NOTICE_MIN))]
    pub(crate) min_notice_min: u32,
    /// How many days ahead can be booked.
    #[serde(default = "two_weeks")]
    #[schemars(range(min = 1, max = 90))]
    pub(crate) horizon_days: u32,
    /// The time zone whose days count for `most_per_day`: an IANA name.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
    /// The maximum number of bookings of the link.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) most_bookings: Option<u32>,
    /// The maximum number of bookings that one guest makes within 30 days, also of those that are cancelled.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) most_per_person: u32,
    /// The maximum number of bookings on one day.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) most_per_day: u32,
}

fn two_weeks() -> u32 {
    14
}

fn utc() -> String {
    "UTC".into()
}

fn one() -> u32 {
    1
}

fn ten() -> u32 {
    10
}

/// A time for which people are booked. It is reserved in their calendars under the booking's id.
#[document]
#[entity(kind = "booking", collection = BOOKINGS, not_found = FinderError::BookingNotFound)]
pub(crate) struct Booking {
    /// The person who booked.
    pub(crate) by: String,
    pub(crate) attendees: Vec<String>,
    pub(crate) title: String,
    /// The person who wrote the title.
    pub(crate) title_by: String,
    pub(crate) begins: u64,
    pub(crate) ends: u64,
    pub(crate) group_id: Option<String>,
    pub(crate) link_id: Option<String>,
    /// The person in turn.
    pub(crate) host: Option<String>,
    pub(crate) state: BookingState,
    pub(crate) created_at: u64,
    pub(crate) changed_at: u64,
}

impl Group {
    pub(crate) fn member(&self, owner_id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.owner_id == owner_id)
    }

    pub(crate) fn member_mut(&mut self, owner_id: &str) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.owner_id == owner_id)
    }
}

impl Visible for Group {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.organizer == owner_id || self.member(owner_id).is_some()
    }
}

impl Visible for Poll {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.voters.iter().any(|voter| voter == owner_id)
    }
}

impl Visible for Booking {
    fn is_visible_to(&self, owner_id: &str) -> bool {
        self.attendees.iter().any(|attendee| attendee == owner_id)
    }
}
