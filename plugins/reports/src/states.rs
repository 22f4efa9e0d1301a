//! The states of a report, and the roles that may change them.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// Nobody has reviewed the report yet.
    Open,
    /// The operator is reviewing the report.
    Triaged,
    /// The report was justified, and a measure was taken.
    Actioned,
    /// No measure was taken.
    Dismissed,
    /// The person whom the decision went against has appealed the decision.
    Appealed,
    /// The decision stands.
    Upheld,
    /// The decision was wrong and was reversed.
    Overturned,
}

use State::{Actioned, Appealed, Dismissed, Open, Overturned, Triaged, Upheld};

/// The person who made the report.
pub(crate) const REPORTER: &str = "reporter";
/// The person against whom a measure was taken.
pub(crate) const AFFECTED: &str = "affected";

/// The states of a report. There are no automatic transitions: a person makes every decision.
pub(crate) const REPORT: Machine<State> = Machine::new(
    "report",
    &[
        Transition::new("create", &[], &[Open]).by(REPORTER),
        Transition::internal("triage", &[Open], &[Triaged]),
        Transition::internal("suspend", &[], &[Actioned]),
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
    fn only_the_person_whom_a_decision_went_against_may_appeal() {
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
