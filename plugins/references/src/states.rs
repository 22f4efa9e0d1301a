//! The states of an encounter and of a reference, and their transitions.

use portolan_sdk::prelude::*;

/// The person who writes a reference.
pub(crate) const AUTHOR: &str = "author";
/// The person about whom it is.
pub(crate) const SUBJECT: &str = "subject";

#[choice(States)]
pub(crate) enum EncounterState {
    /// Each of the two may write a reference about the other one.
    Open,
    /// The references that were written are shown, and no others can be written.
    Closed,
}

use EncounterState::{Closed, Open};

pub(crate) const ENCOUNTER: Machine<EncounterState> = Machine::new(
    "encounter",
    &[
        Transition::internal("on_meeting_completed", &[], &[Open]),
        Transition::internal("on_pairing_closed", &[], &[Open]),
        Transition::internal("on_application_answered", &[], &[Open]),
        Transition::new("write", &[Open], &[]),
        Transition::new("withdraw", &[Open], &[]),
        Transition::internal("settle", &[Open], &[Closed]),
        Transition::internal("close", &[Open], &[Closed]),
    ],
)
.read_by("references", "encounter", "encounter_id");

#[choice(States)]
pub(crate) enum State {
    /// Only its author knows that it exists.
    Written,
    /// Its author has withdrawn it before it was shown.
    Withdrawn,
    /// Both people see it, and those to whom the person shows it about whom it is.
    Shown,
    /// The operator has removed the content.
    Removed,
}

use State::{Removed, Shown, Withdrawn, Written};

pub(crate) const REFERENCE: Machine<State> = Machine::new(
    "reference",
    &[
        Transition::new("write", &[], &[Written]),
        Transition::new("write", &[Written], &[]).by(AUTHOR),
        Transition::new("withdraw", &[Written], &[Withdrawn]).by(AUTHOR),
        Transition::new("reply", &[Shown], &[]).by(SUBJECT),
        Transition::internal("settle", &[Written], &[Shown]),
        Transition::internal("close", &[Written], &[Shown]),
        Transition::internal("remove", &[Shown], &[Removed]),
    ],
)
.read_by("references", "get", "reference_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_person_has_their_own_actions() {
        for (state, author, subject) in [
            (Written, vec!["write", "withdraw"], vec![]),
            (Withdrawn, vec![], vec![]),
            (Shown, vec![], vec!["reply"]),
            (Removed, vec![], vec![]),
        ] {
            assert_eq!(REFERENCE.allowed_as(AUTHOR, state), author, "{state:?}");
            assert_eq!(REFERENCE.allowed_as(SUBJECT, state), subject, "{state:?}");
        }
        assert_eq!(ENCOUNTER.allowed(Open), ["write", "withdraw"]);
        assert_eq!(ENCOUNTER.allowed(Closed), Vec::<&str>::new());
    }
}
