//! The limits of one person.

use crate::types::{Kind, RELATIONSHIPS, RelationshipError, Result, list};
use portolan_sdk::prelude::*;

/// The maximum number of relationships of one kind that a person has made or agreed to. Followers
/// do not count.
pub(crate) const MOST_OF_A_KIND: u64 = 5000;
/// The daily limit of requests of one person to different people.
const REQUESTS: Window = Window { most: 100, within: DAY };
/// The cooldown after the other side has ended a relationship, in which a new request is refused.
pub(crate) const COOLDOWN: u64 = 30 * DAY;

/// Refuses one more relationship of a kind if the limit is reached. Two concurrent calls may exceed
/// it by one.
pub(crate) fn ensure_below_limit(owner_id: &str, kind: Kind) -> Result<()> {
    let own = field("subject").eq(owner_id);
    let own = match kind {
        Kind::Connect => any_of([own, field("object").eq(owner_id)]),
        Kind::Follow | Kind::Block | Kind::Mute => own,
    };
    let filter = all_of([own, field("kind").eq(kind), active_filter()]);
    if RELATIONSHIPS.count(filter)? < MOST_OF_A_KIND {
        return Ok(());
    }
    Err(RelationshipError::RelationshipLimitReached)
}

/// Refuses one more request if the limit of the last 24 hours is reached.
pub(crate) fn ensure_request_quota(owner_id: &str, now: u64) -> Result<()> {
    let today = field("asked_at").gt(now.saturating_sub(REQUESTS.within));
    let today = field("subject").eq(owner_id).and(today);
    if RELATIONSHIPS.count(today.clone())? < REQUESTS.most as u64 {
        return Ok(());
    }
    let last = Query::new().filter(today).last("asked_at");
    let first = RELATIONSHIPS.find(last.limit(REQUESTS.most as u32))?.hits.pop();
    let first = first.and_then(|hit| hit.document.value.asked_at).unwrap_or(now);
    let limit = Limit::within("requests_per_day", &REQUESTS, first + REQUESTS.within - now);
    Err(quota("The limit of requests for one day is reached.", &limit, list()).into())
}

/// Returns the filter for relationships that are active or requested.
pub(crate) fn active_filter() -> Filter {
    field("state").one_of(["requested", "active"])
}
