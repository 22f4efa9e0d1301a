//! How much of it one person may have.

use crate::types::{Kind, RELATIONSHIPS, RelationshipError};
use portolan_sdk::{
    documents::{Filter, all_of, any_of},
    prelude::*,
};

const HOUR: u64 = 3_600_000;
pub(crate) const DAY: u64 = 24 * HOUR;
/// Relationships of one kind that a person has made or agreed to. Followers do not count.
pub(crate) const OF_A_KIND: u64 = 5000;
/// Requests, to other people each, in 24 hours.
pub(crate) const REQUESTS: u64 = 100;
/// After the other side has ended it, a new request is not taken for so long.
pub(crate) const REST: u64 = 30 * DAY;

/// Refuses one more of a kind. Two calls at once may pass it by one.
pub(crate) fn check_room(owner_id: &str, kind: Kind) -> Result<(), RelationshipError> {
    let own = field("subject").eq(owner_id);
    let own = match kind {
        Kind::Connect => any_of([own, field("object").eq(owner_id)]),
        Kind::Follow | Kind::Block | Kind::Mute => own,
    };
    let filter = all_of([own, field("kind").eq(kind), standing()]);
    if RELATIONSHIPS.count(filter)? < OF_A_KIND {
        return Ok(());
    }
    Err(RelationshipError::RelationshipLimitReached { limit: OF_A_KIND })
}

/// Refuses one more request today.
pub(crate) fn check_requests(owner_id: &str, now: u64) -> Result<(), RelationshipError> {
    let today = field("asked_at").gt(now.saturating_sub(DAY));
    if RELATIONSHIPS.count(field("subject").eq(owner_id).and(today))? < REQUESTS {
        return Ok(());
    }
    Err(RelationshipError::Common(too_many_requests()))
}

/// What there is, or is asked for.
pub(crate) fn standing() -> Filter {
    field("state").one_of(["requested", "active"])
}

fn too_many_requests() -> Refusal {
    let message = "There were as many requests as one may make in a day.";
    let mut refusal = Refusal::common("quota_exceeded", message);
    refusal.conflict = Some(Box::new(portolan_sdk::to_value(&crate::types::Limit {
        kind: "limit",
        name: "requests_per_day",
        limit: REQUESTS,
        window_s: Some(DAY / 1000),
    })));
    refusal.next = Some(Box::new(crate::types::list()));
    refusal
}
