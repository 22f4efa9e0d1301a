//! The states of a listing, and the transitions between them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    Draft,
    /// The listing's text is reviewed before the listing is published.
    InReview,
    Rejected,
    Active,
    Paused,
    Filled,
    Withdrawn,
    Expired,
    Removed,
}

use State::{Active, Draft, Expired, Filled, InReview, Paused, Rejected, Removed, Withdrawn};

/// The states of a listing. If its text is flagged, it is in review instead of active.
pub(crate) const LISTING: Machine<State> = Machine::new(
    "listing",
    &[
        Transition::new("create", &[], &[Draft, Active, InReview]),
        Transition::new("update", &[Active], &[Active, InReview]),
        Transition::new("update", &[Draft, Paused, Rejected], &[]),
        Transition::new("publish", &[Draft], &[Active, InReview]),
        Transition::new("publish", &[Rejected], &[InReview]),
        Transition::new("pause", &[Active], &[Paused]),
        Transition::new("resume", &[Paused], &[Active, InReview]),
        Transition::new("renew", &[Active, Paused], &[]),
        Transition::new("renew", &[Expired, Filled], &[Active, InReview]),
        Transition::new("mark_filled", &[Active, Paused], &[Filled]),
        Transition::new("withdraw", &[Active, Paused, Draft, InReview, Rejected], &[Withdrawn]),
        Transition::internal("approve", &[InReview], &[Active]),
        Transition::internal("reject", &[InReview], &[Rejected]),
        Transition::internal("remove", &[Active, Paused, InReview], &[Removed]),
        Transition::internal("reinstate", &[Removed], &[Paused]),
        Transition::internal("warn", &[Active, Paused], &[]),
        Transition::internal("expire", &[Active, Paused], &[Expired]),
        Transition::internal("on_owner_deactivated", &[Active], &[Paused]),
        Transition::internal("on_agent_gone", &[Active], &[Paused]),
        Transition::internal("on_org_changed", &[Active], &[Paused]),
    ],
)
.read_by("agent_listings", "get", "listing_id");

impl State {
    /// The states that count towards the person's limit of published listings.
    pub(crate) const PUBLISHED: &[Self] = &[Active, InReview];
    /// The states that count towards the person's limit of unpublished listings.
    pub(crate) const UNPUBLISHED: &[Self] = &[Draft, Rejected, Paused];

    /// Whether a listing in this state expires at its `valid_through`.
    pub(crate) fn can_expire(self) -> bool {
        matches!(self, Active | Paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_states_allow_nothing() {
        assert!(LISTING.allowed(Withdrawn).is_empty() && LISTING.allowed(Removed).is_empty());
        assert_eq!(LISTING.allowed(InReview), ["withdraw"]);
        let active = ["update", "pause", "renew", "mark_filled", "withdraw"];
        assert_eq!(LISTING.allowed(Active), active);
    }
}
