//! The states of a meeting and of each participant's answer, and their transitions.

use crate::types::*;
use portolan_sdk::prelude::*;

#[choice(States, Default)]
pub(crate) enum State {
    /// Times were proposed, and the others have to answer.
    #[default]
    Proposed,
    /// Other times were proposed instead.
    Countered,
    /// All have agreed on a time, and it is reserved in everybody's calendar.
    Confirmed,
    Declined,
    Cancelled,
    /// The participants did not agree in time.
    Expired,
    /// The meeting has ended.
    Completed,
    /// The meeting's time is over, and a participant has reported that it did not take place.
    NoShow,
}

use State::{Cancelled, Completed, Confirmed, Countered, Declined, Expired, NoShow, Proposed};

/// The person who proposed the offered slots.
pub(crate) const PROPOSER: &str = "asking";
/// A participant who has to answer the offered slots.
pub(crate) const RECIPIENT: &str = "asked";

/// The states in which the participants still have to agree or to meet.
pub(crate) const OPEN: [State; 3] = [Proposed, Countered, Confirmed];

impl State {
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }
}

pub(crate) const MEETING: Machine<State> = Machine::new(
    "meeting",
    &[
        Transition::new("propose", &[], &[Proposed]),
        Transition::new("accept", &[Proposed], &[Proposed, Confirmed]).by(RECIPIENT),
        Transition::new("tentative", &[Proposed], &[]).by(RECIPIENT),
        Transition::new("decline", &[Proposed], &[Declined]).by(RECIPIENT),
        Transition::new("counter", &[Proposed, Countered], &[Countered]).by(RECIPIENT),
        Transition::new("accept_counter", &[Countered], &[Countered, Confirmed]).by(RECIPIENT),
        Transition::new("decline_counter", &[Countered], &[Proposed]).by(RECIPIENT),
        Transition::new("reschedule", &[Confirmed], &[Proposed]),
        Transition::new("cancel", &OPEN, &[Cancelled]),
        Transition::new("report_outcome", &[Confirmed], &[Confirmed, Completed, NoShow]),
        Transition::new("report_outcome", &[Completed, NoShow], &[Completed, NoShow]),
        Transition::internal("expire", &[Proposed, Countered], &[Expired]),
        Transition::internal("finish", &[Confirmed], &[Completed, NoShow]),
        Transition::internal("part", &OPEN, &[Cancelled]),
        Transition::internal("on_member_changed", &OPEN, &[]),
    ],
)
.read_by(CAPABILITY, "get", "meeting_id");

/// The answer of a participant, in the words of RFC 5545.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Participation {
    NeedsAction,
    Accepted,
    Declined,
    Tentative,
}

impl Participation {
    pub(crate) fn partstat(self) -> &'static str {
        match self {
            Self::NeedsAction => "NEEDS-ACTION",
            Self::Accepted => "ACCEPTED",
            Self::Declined => "DECLINED",
            Self::Tentative => "TENTATIVE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_decides_each_sides_actions() {
        let answers = ["accept", "tentative", "decline", "counter", "cancel"];
        assert_eq!(MEETING.allowed_as(RECIPIENT, Proposed), answers);
        assert_eq!(MEETING.allowed_as(PROPOSER, Proposed), ["cancel"]);
        let answers = ["counter", "accept_counter", "decline_counter", "cancel"];
        assert_eq!(MEETING.allowed_as(RECIPIENT, Countered), answers);
        assert_eq!(
            MEETING.allowed_as(PROPOSER, Confirmed),
            ["reschedule", "cancel", "report_outcome"]
        );
        for over in [Declined, Cancelled, Expired] {
            assert!(MEETING.allowed(over).is_empty());
        }
    }
}
