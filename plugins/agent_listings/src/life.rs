//! The states of a listing, and which action leads where.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    Draft,
    /// Somebody looks at its text before it is published.
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

/// Where a text is flagged, what would be active is in review.
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
    /// Whether it runs out at its time.
    pub(crate) fn runs(self) -> bool {
        matches!(self, Active | Paused)
    }

    /// Whether it counts among those that a person may have published at once.
    pub(crate) fn is_published(self) -> bool {
        matches!(self, Active | InReview)
    }

    /// Whether it counts among those that a person may keep for later.
    pub(crate) fn is_kept(self) -> bool {
        matches!(self, Draft | Rejected | Paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        assert_eq!(LISTING.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_is_final_allows_nothing() {
        assert!(LISTING.allowed(Withdrawn).is_empty());
        assert!(LISTING.allowed(Removed).is_empty());
        assert_eq!(LISTING.allowed(InReview), ["withdraw"]);
        assert_eq!(
            LISTING.allowed(Active),
            ["update", "pause", "renew", "mark_filled", "withdraw"]
        );
    }
}
