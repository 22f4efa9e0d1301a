//! The states of an application, and their transitions. An enquiry has the same states.

use portolan_sdk::prelude::*;

/// The person who applies.
pub(crate) const APPLICANT: &str = "applicant";
/// A person who acts for the company or owns the listing.
pub(crate) const RECIPIENT: &str = "recipient";

#[choice(States)]
pub(crate) enum State {
    /// Nobody acts for the target yet: the application is kept until somebody proves to.
    Waiting,
    /// The recipients have it, and have not decided.
    Submitted,
    Shortlisted,
    /// The recipients want to talk: a conversation is open.
    Invited,
    /// The recipients offer the role, and the applicant has to answer.
    Offered,
    /// The applicant has accepted the offer.
    Accepted,
    /// The applicant has declined the offer.
    Declined,
    Rejected,
    Withdrawn,
    /// It was not delivered or not decided in time, or the listing is no longer active.
    Expired,
    /// It ended for another reason than an action of one of the two sides.
    Cancelled,
}

use State::{
    Accepted, Cancelled, Declined, Expired, Invited, Offered, Rejected, Shortlisted, Submitted,
    Waiting, Withdrawn,
};

/// The states in which an application prevents another one of the same person to the same role.
pub(crate) const OPEN: &[State] = &[Waiting, Submitted, Shortlisted, Invited, Offered];
/// The states in which a role's application ends if its listing is no longer active.
pub(crate) const UNDECIDED: &[State] = &[Submitted, Shortlisted];
/// The states in which the two sides still have to do with each other.
pub(crate) const ACTIVE: &[State] = &[Waiting, Submitted, Shortlisted, Invited, Offered, Accepted];
/// The states in which the two sides talk and one of them has to act.
pub(crate) const UNANSWERED: &[State] = &[Invited, Offered];
/// The states in which the two sides talk.
pub(crate) const TALKING: &[State] = &[Invited, Offered, Accepted];

pub(crate) const APPLICATION: Machine<State> = Machine::new(
    "application",
    &[
        Transition::new("apply", &[], &[Waiting, Submitted]),
        Transition::new("enquire", &[], &[Waiting, Submitted]),
        Transition::new("decide", &[Submitted], &[Shortlisted, Invited, Offered, Rejected])
            .by(RECIPIENT),
        Transition::new("decide", &[Shortlisted], &[Invited, Offered, Rejected]).by(RECIPIENT),
        Transition::new("decide", &[Invited], &[Offered, Rejected]).by(RECIPIENT),
        Transition::new("decide", &[Offered], &[Rejected]).by(RECIPIENT),
        Transition::new("answer", &[Offered], &[Accepted, Declined]).by(APPLICANT),
        Transition::new("withdraw", OPEN, &[Withdrawn]).by(APPLICANT),
        Transition::new("exchange_contact", TALKING, &[]),
        Transition::new("reopen_conversation", TALKING, &[]).by(RECIPIENT),
        Transition::internal("deliver", &[Waiting], &[Submitted, Cancelled]),
        Transition::internal("expire", OPEN, &[Expired]),
        Transition::internal("on_listing_left", UNDECIDED, &[Expired]),
        Transition::internal("on_blocked", OPEN, &[Cancelled]),
        Transition::internal("on_owner_deactivated", OPEN, &[Cancelled]),
        Transition::internal("on_org_archived", ACTIVE, &[Cancelled]),
        Transition::internal("on_owner_left", ACTIVE, &[Cancelled]),
        Transition::internal("check", UNANSWERED, &[Cancelled]),
    ],
)
.read_by("applications", "get", "application_id");

impl State {
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_its_own_actions() {
        for (state, applicant, recipient) in [
            (Waiting, vec!["withdraw"], vec![]),
            (Submitted, vec!["withdraw"], vec!["decide"]),
            (
                Invited,
                vec!["withdraw", "exchange_contact"],
                vec!["decide", "exchange_contact", "reopen_conversation"],
            ),
            (
                Offered,
                vec!["answer", "withdraw", "exchange_contact"],
                vec!["decide", "exchange_contact", "reopen_conversation"],
            ),
            (Accepted, vec!["exchange_contact"], vec!["exchange_contact", "reopen_conversation"]),
            (Rejected, vec![], vec![]),
            (Cancelled, vec![], vec![]),
        ] {
            assert_eq!(APPLICATION.allowed_as(APPLICANT, state), applicant, "{state:?}");
            assert_eq!(APPLICATION.allowed_as(RECIPIENT, state), recipient, "{state:?}");
        }
    }
}
