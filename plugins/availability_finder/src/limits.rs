//! Every limit of the capability. Together, the first ones bound what can be inferred about a person's time.

use people_kit::calendar::CELL_MIN;
use portolan_sdk::prelude::*;

/// The length of a cell. Starts, lengths and buffers are multiples of it.
pub(crate) const CELL: u64 = CELL_MIN as u64 * MINUTE;
/// The longest window of one question.
pub(crate) const LONGEST_WINDOW: u64 = 14 * DAY;
/// How far ahead a window may end.
pub(crate) const HORIZON: u64 = 90 * DAY;
/// The maximum number of times in one answer.
pub(crate) const MOST_TIMES: u32 = 10;
/// The questions about a group on one day. Holds and bookings count too, because their refusals answer.
pub(crate) const QUESTIONS_OF_GROUP: Window = Window { most: 20, within: DAY };
/// The maximum number of these questions by all guests of the group's links; the rest is reserved for the organizer.
pub(crate) const QUESTIONS_OF_GUESTS: Window = Window { most: 10, within: DAY };
/// The maximum number of these questions by one guest.
pub(crate) const QUESTIONS_OF_ONE_GUEST: Window = Window { most: 4, within: DAY };
/// The questions in which a person's calendar counts on one day, of all groups of others together.
pub(crate) const QUESTIONS_ABOUT_PERSON: DailyLimit =
    DailyLimit { action: "asked", name: "questions_about_a_person_per_day", most: 60 };
/// The least number of people of whom an answer tells how many cannot.
pub(crate) const LEAST_FOR_COUNTS: usize = 4;
/// The least number of people who have to agree in a group that was begun with more than two.
pub(crate) const LEAST_OF_MANY: usize = 3;
/// The maximum number of people who are missing at an answered time.
pub(crate) const MOST_MISSING: u32 = 5;

/// The longest meeting, in minutes.
pub(crate) const LONGEST_MIN: u32 = 480;
/// The longest buffer, in minutes.
pub(crate) const LONGEST_BUFFER_MIN: u32 = 120;
/// The longest minimum notice, in minutes.
pub(crate) const LONGEST_NOTICE_MIN: u32 = 30 * 24 * 60;

/// The maximum number of people whom an organizer invites.
pub(crate) const MOST_INVITED: u32 = 19;
/// The groups that a person begins on one day.
pub(crate) const INVITATIONS: DailyLimit =
    DailyLimit { action: "invite", name: "groups_per_day", most: 10 };
/// The maximum number of open groups of an organizer.
pub(crate) const MOST_GROUPS: usize = 20;
/// The time for which a group is open.
pub(crate) const GROUP_FOR: u64 = 90 * DAY;
/// The time for which a closed group or a closed link is kept.
pub(crate) const KEPT_FOR: u64 = 30 * DAY;

/// The time after a decline in which the organizer does not invite the person again.
pub(crate) const DECLINED_FOR: u64 = 30 * DAY;
/// The time in which the invitations of an organizer that a person has not answered are counted.
pub(crate) const UNANSWERED_FOR: u64 = 30 * DAY;
/// The number of unanswered invitations after which the organizer does not invite the person again.
pub(crate) const MOST_UNANSWERED: usize = 2;
/// The time after which the organizer is told of another answer of the same member.
pub(crate) const TOLD_EVERY: u64 = HOUR;

/// The maximum number of holds of a group.
pub(crate) const MOST_HOLDS: usize = 3;
/// The minutes for which one organizer holds a person on one day.
pub(crate) const HELD_BY_ONE: Window = Window { most: 60, within: DAY };
/// The maximum number of holds that one run ends.
pub(crate) const HOLDS_ENDED: u32 = 20;

/// The polls that a person opens on one day: each is an event for every voter, also when it closes.
pub(crate) const POLLS_OPENED: DailyLimit =
    DailyLimit { action: "open_poll", name: "polls_per_day", most: 10 };
/// The maximum number of open polls of a group.
pub(crate) const MOST_POLLS: usize = 3;
/// The maximum number of polls that one run deletes with their group; the others follow in runs of their own.
pub(crate) const POLLS_DELETED: u32 = 100;
/// The longest time until a poll closes.
pub(crate) const LONGEST_POLL: u64 = 14 * DAY;

/// The booking links that a person creates on one day.
pub(crate) const LINKS_CREATED: DailyLimit =
    DailyLimit { action: "create_link", name: "links_per_day", most: 20 };
/// The maximum number of open booking links of a person.
pub(crate) const MOST_LINKS: usize = 20;
/// The questions that a person asks by booking links on one day. Attempts to book count too.
pub(crate) const LINK_QUESTIONS: DailyLimit =
    DailyLimit { action: "link", name: "questions_by_links_per_day", most: 40 };
/// The time in which the bookings of one guest by one link are counted.
pub(crate) const GUEST_COUNTED_FOR: u64 = 30 * DAY;
/// The time for which a booking is kept after its end.
pub(crate) const BOOKING_KEPT_FOR: u64 = 90 * DAY;
/// The maximum number of bookings that one run ends; the others follow in runs of their own.
pub(crate) const ENDED_AT_ONCE: u32 = 4;
