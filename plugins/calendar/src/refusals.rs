//! What is refused, and what helps.

use crate::{
    limits::{DAY, LONGEST_RANGE, MOST_BLOCKS},
    rule::*,
    types::*,
};
use people_kit::{calendar::Slot, text::TextError};
use portolan_sdk::prelude::*;

/// What is wrong, for a program: as the host's own, with the line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// A JSON Pointer (RFC 6901) into the body.
    pub(crate) pointer: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) expected: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
}

#[derive(Serialize)]
struct Violation {
    kind: &'static str,
    errors: [Fault; 1],
}

#[derive(Serialize)]
struct Schedule {
    kind: &'static str,
    busy: Vec<Slot>,
}

pub(crate) type Result<T, E = CalendarError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum CalendarError {
    /// This is more time than is looked at in one call, or none: ask for a shorter piece.
    #[refusal(
        invalid,
        conflict_detail = Limit::bound("range_days", range_days()),
        next = list()
    )]
    RangeTooLarge,
    /// This is no file of a calendar that can be read: the line says where.
    #[refusal(invalid, conflict_detail = violation(fault), next = list())]
    IcsInvalid { fault: Fault },
    /// There is no such time zone: use an IANA name, such as America/Los_Angeles.
    #[refusal(invalid, conflict_detail = violation(fault), next = get_availability())]
    TimeZoneUnknown { fault: Fault },
    /// There is no such block.
    #[refusal(not_found, next = list())]
    BlockNotFound,
    /// The person has as many blocks as one may have: remove some first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("blocks", MOST_BLOCKS.into()),
        next = list()
    )]
    BlockLimitReached,
    /// Something else is at this time.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Schedule { kind: "schedule", busy },
        next = look(slot)
    )]
    SlotTaken { busy: Vec<Slot>, slot: Slot },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

fn range_days() -> u64 {
    (LONGEST_RANGE / DAY).unsigned_abs()
}

fn violation(fault: Fault) -> impl Serialize {
    Violation { kind: "validation", errors: [fault] }
}

impl CalendarError {
    /// The field does not name a zone.
    pub(crate) fn no_zone(pointer: &'static str, line: Option<u32>) -> Self {
        let (rule, expected) = ("time_zone", "the name of a time zone, such as Europe/Berlin");
        Self::TimeZoneUnknown { fault: Fault { pointer, rule, expected, line } }
    }

    /// The file is wrong in this line.
    pub(crate) fn in_line(line: u32, rule: &'static str, expected: &'static str) -> Self {
        Self::IcsInvalid { fault: Fault { pointer: "/ics", rule, expected, line: Some(line) } }
    }

    pub(crate) fn validation(pointer: &str, rule: &str, expected: &str) -> Self {
        Self::Common(Refusal::validation(pointer, rule, expected))
    }

    /// The rule of a block that somebody adds.
    pub(crate) fn in_rule(problem: Problem) -> Self {
        match problem {
            Problem::Malformed(expected) => Self::validation("/rrule", "rrule", expected),
            Problem::Unsupported(part) => {
                let expected = "FREQ, INTERVAL, BYDAY, COUNT and UNTIL alone, within their limits";
                Self::validation("/rrule", &format!("no_{}", part.to_lowercase()), expected)
            }
        }
    }
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list_events")
}

pub(crate) fn get_availability() -> Next {
    Next::action(CAPABILITY, "get_availability")
}

fn look(slot: Slot) -> Next {
    Next::action(CAPABILITY, "get_freebusy").field("start", slot.start).field("end", slot.end)
}
