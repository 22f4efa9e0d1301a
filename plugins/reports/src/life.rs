//! The states of a report, and who takes it from one to another.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// Nobody has looked at it yet.
    Open,
    /// Somebody is examining it.
    Triaged,
    /// It was right, and something was done about it.
    Actioned,
    /// Nothing was done about it.
    Dismissed,
    /// Whom the decision went against has asked for another look.
    Appealed,
    /// The decision stands.
    Upheld,
    /// The decision was wrong and is reversed.
    Overturned,
}

use State::{Actioned, Appealed, Dismissed, Open, Overturned, Triaged, Upheld};

/// Who has made the report.
pub(crate) const REPORTER: &str = "reporter";
/// Whom a decision was made against.
pub(crate) const AFFECTED: &str = "affected";

/// Nothing here happens by itself: a decision is always a person's.
pub(crate) const REPORT: Machine<State> = Machine::new(
    "report",
    &[
        Transition::new("create", &[], &[Open]).by(REPORTER),
        Transition::internal("triage", &[Open], &[Triaged]),
        Transition::internal("decide", &[Triaged], &[Actioned, Dismissed]),
        Transition::new("appeal", &[Dismissed], &[Appealed]).by(REPORTER),
        Transition::new("appeal", &[Actioned], &[Appealed]).by(AFFECTED),
        Transition::internal("decide_appeal", &[Appealed], &[Upheld, Overturned]),
    ],
)
.read_by(CAPABILITY, "get", "report_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        assert_eq!(REPORT.faults(), Vec::<String>::new());
    }

    #[test]
    fn whom_a_decision_went_against_may_appeal_and_nobody_else() {
        let none: [&str; 0] = [];
        assert_eq!(REPORT.allowed_as(REPORTER, Dismissed), ["appeal"]);
        assert_eq!(REPORT.allowed_as(AFFECTED, Dismissed), none);
        assert_eq!(REPORT.allowed_as(AFFECTED, Actioned), ["appeal"]);
        assert_eq!(REPORT.allowed_as(REPORTER, Actioned), none);
        for state in [Open, Triaged, Appealed, Upheld, Overturned] {
            assert_eq!(REPORT.allowed(state), none, "{state:?}");
        }
    }
}
