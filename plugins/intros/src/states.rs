//! The states of an introduction, as each of its three people sees them, and their transitions.
//!
//! Each person has a state of their own. The requester's is `asked` until the two are introduced or the time
//! of the request is over, whatever the other two answer: so it does not tell who did not want to.

use portolan_sdk::prelude::*;

/// The person who asks for the introduction.
pub(crate) const REQUESTER: &str = "requester";
/// The person who is asked to introduce the requester.
pub(crate) const INTRODUCER: &str = "introducer";
/// The person whom the requester would like to meet.
pub(crate) const TARGET: &str = "target";

#[choice(States)]
pub(crate) enum State {
    /// The introducer may answer. For the requester, nobody has agreed or the time is not over yet.
    Asked,
    /// The introducer has forwarded it, and the target may answer.
    Forwarded,
    /// The person who sees this has declined.
    Declined,
    /// Both agreed: the requester and the target have a conversation.
    Introduced,
    /// It did not come about within its time. Why is not disclosed.
    NotNow,
    /// The requester has withdrawn it.
    Withdrawn,
    /// The person who sees this has not answered in time.
    Expired,
}

use State::{Asked, Declined, Expired, Forwarded, Introduced, NotNow, Withdrawn};

/// The states in which an introduction can still come about.
pub(crate) const OPEN: &[State] = &[Asked, Forwarded];

pub(crate) const INTRO: Machine<State> = Machine::new(
    "intro",
    &[
        Transition::new("request", &[], &[Asked]),
        Transition::new("respond", &[Asked], &[Forwarded, Declined]).by(INTRODUCER),
        Transition::new("respond", &[Forwarded], &[Introduced, Declined]).by(TARGET),
        Transition::new("withdraw", &[Asked], &[Withdrawn]).by(REQUESTER),
        Transition::new("exchange_contact", &[Introduced], &[]),
        Transition::internal("lapse", &[Asked], &[Expired]),
        Transition::internal("end", OPEN, &[NotNow, Expired]),
    ],
)
.read_by("intros", "get", "intro_id");

impl State {
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_person_has_their_own_actions() {
        for (state, requester, introducer, target) in [
            (Asked, vec!["withdraw"], vec!["respond"], vec![]),
            (Forwarded, vec![], vec![], vec!["respond"]),
            (Declined, vec![], vec![], vec![]),
            (NotNow, vec![], vec![], vec![]),
            (Withdrawn, vec![], vec![], vec![]),
            (Expired, vec![], vec![], vec![]),
        ] {
            assert_eq!(INTRO.allowed_as(REQUESTER, state), requester, "{state:?}");
            assert_eq!(INTRO.allowed_as(INTRODUCER, state), introducer, "{state:?}");
            assert_eq!(INTRO.allowed_as(TARGET, state), target, "{state:?}");
        }
        assert_eq!(INTRO.allowed(Introduced), ["exchange_contact"]);
    }
}
