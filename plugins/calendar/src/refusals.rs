//! The refusals, each with the next step that helps.

use crate::{
    limits::{DAY, LONGEST_RANGE, MOST_A_DAY_OF_PERSON, MOST_BLOCKS, MOST_SUBSCRIPTIONS},
    rule::*,
    types::*,
};
use people_kit::{calendar::Slot, text::TextError};
use portolan_sdk::prelude::*;

/// A fault for programs, in the form that the host uses, with the line of the file.
#[output(Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A JSON Pointer (RFC 6901) into the body.
    pub(crate) pointer: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) line: Option<u32>,
}

pub(crate) type Result<T, E = CalendarError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum CalendarError {
    /// The range is empty, or longer than one call reads. Choose a shorter one.
    #[refusal(
        invalid,
        conflict_detail = Limit::bound("range_days", range_days()),
        next = list()
    )]
    RangeTooLarge,
    /// This calendar file cannot be parsed; see the line in conflict.
    #[refusal(invalid, conflict_detail = violation(fault), next = list())]
    IcsInvalid { fault: Fault },
    /// There is no such time zone. Use an IANA name, such as America/Los_Angeles.
    #[refusal(invalid, conflict_detail = violation(fault), next = get_availability())]
    TimeZoneUnknown { fault: Fault },
    /// There is no such block.
    #[refusal(not_found, next = list())]
    BlockNotFound,
    /// The person would have more blocks than allowed: see `blocks` in conflict. Remove some first, or import a
    /// smaller file.
    #[refusal(conflict, conflict_detail = too_many_blocks(blocks), next = list())]
    BlockLimitReached {
        /// The number of blocks that the person would have.
        blocks: u32,
    },
    /// The rules of the person have as many occurrences on one day as allowed. Remove some first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("occurrences_a_day", MOST_A_DAY_OF_PERSON.into()),
        next = list()
    )]
    DailyLimitReached,
    /// Something else is at this time.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = json!({ "kind": "schedule", "busy": busy }),
        next = get_freebusy(slot)
    )]
    SlotTaken { busy: Vec<Slot>, slot: Slot },
    /// This block is of a calendar that was subscribed to. Change it there, or end the subscription.
    #[refusal(
        conflict,
        conflict_detail = json!({ "kind": "subscription", "subscription_id": subscription_id }),
        next = list_subscriptions()
    )]
    BlockIsSubscribed { subscription_id: String },
    /// There is no such subscription.
    #[refusal(not_found, next = list_subscriptions())]
    SubscriptionNotFound,
    /// The person subscribes to this calendar already.
    #[refusal(
        conflict,
        conflict_detail = json!({ "kind": "subscription", "subscription_id": subscription_id }),
        next = list_subscriptions()
    )]
    AlreadySubscribed { subscription_id: String },
    /// The person has as many subscriptions as allowed. End one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("subscriptions", MOST_SUBSCRIPTIONS.into()),
        next = list_subscriptions()
    )]
    SubscriptionLimitReached,
    /// The person has no address for their free/busy times.
    #[refusal(not_found, next = publish_freebusy())]
    FreebusyNotPublished,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

fn range_days() -> u64 {
    (LONGEST_RANGE / DAY).unsigned_abs()
}

fn too_many_blocks(blocks: u32) -> Value {
    json!({ "kind": "limit", "name": "blocks", "limit": MOST_BLOCKS, "blocks": blocks })
}

fn violation(fault: Fault) -> Value {
    json!({ "kind": "validation", "errors": [fault] })
}

impl CalendarError {
    /// Makes the refusal of a field that does not name a zone.
    pub(crate) fn no_zone(pointer: &'static str) -> Self {
        let (rule, expected) = ("time_zone", "the name of a time zone, such as Europe/Berlin");
        Self::TimeZoneUnknown { fault: Fault { pointer, rule, expected, line: None } }
    }

    /// Makes the refusal of a file with an error in this line.
    pub(crate) fn in_line(line: u32, rule: &'static str, expected: &'static str) -> Self {
        Self::IcsInvalid { fault: Fault { pointer: "/ics", rule, expected, line: Some(line) } }
    }

    pub(crate) fn validation(pointer: &str, rule: &str, expected: &str) -> Self {
        Self::Common(Refusal::validation(pointer, rule, expected))
    }

    /// Makes the refusal of the rule of an added block.
    pub(crate) fn in_rule(problem: Problem) -> Self {
        match problem {
            Problem::Malformed(expected) => Self::validation("/rrule", "rrule", expected),
            Problem::Unsupported(part) => {
                let expected = "FREQ from DAILY to YEARLY, without BYHOUR, BYMINUTE and BYSECOND, \
                    COUNT up to 1000 and INTERVAL up to 100000";
                Self::validation("/rrule", &format!("no_{}", part.to_lowercase()), expected)
            }
        }
    }
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list_events")
}

pub(crate) fn list_subscriptions() -> Next {
    Next::action(CAPABILITY, "list_subscriptions")
}

pub(crate) fn publish_freebusy() -> Next {
    Next::action(CAPABILITY, "publish_freebusy")
}

pub(crate) fn get_availability() -> Next {
    Next::action(CAPABILITY, "get_availability")
}

fn get_freebusy(slot: Slot) -> Next {
    Next::action(CAPABILITY, "get_freebusy").field("start", slot.start).field("end", slot.end)
}
