//! Blocks, and the relationships that they end.

use crate::{
    private::{hold, release},
    requests::{connection_tuples, end_all},
    types::*,
    view::view,
};
use people_kit::relations::{Hidden, HiddenQuery, Tuple, relate};
use portolan_sdk::prelude::*;

pub(crate) fn block(call: &Call, input: Other) -> Result<Relationship> {
    let (me, other) = (call.require_owner()?, &*input.owner_id);
    let stored = hold(call, me, other, Kind::Block)?;
    end_all(call, me, other)?;
    relate(vec![blocked(me, other)], connection_tuples(me, other).into())?;
    publish(call, BLOCKED, &stored, "Somebody was blocked.")?;
    Ok(view(&stored, me))
}

pub(crate) fn unblock(call: &Call, input: Change) -> Result<Relationship> {
    let me = call.require_owner()?;
    let stored = release(call, me, input, Kind::Block)?;
    relate(Vec::new(), vec![blocked(me, &stored.value.object)])?;
    publish(call, UNBLOCKED, &stored, "Somebody is no longer blocked.")?;
    Ok(view(&stored, me))
}

/// Returns those of the people who have blocked the viewer, or were blocked by them.
pub(crate) fn hidden(query: HiddenQuery) -> Result<Hidden, HostError> {
    let viewer = query.viewer_id.as_str();
    let blocks = |(blocker, blocked)| id(Kind::Block, blocker, blocked);
    let pairs =
        query.owner_ids.iter().flat_map(|other| [(viewer, other.as_str()), (other, viewer)]);
    let found = RELATIONSHIPS.get_many(pairs.map(blocks))?;
    let either = found.chunks(2).map(|pair| pair.iter().any(Option::is_some));
    let owner_ids = query.owner_ids.iter().zip(either).filter(|(_, hidden)| *hidden);
    Ok(Hidden { owner_ids: owner_ids.map(|(other, _)| other.clone()).collect() })
}

/// Returns whether one of the two has blocked the other.
pub(crate) fn is_blocked(viewer: &str, other: &str) -> Result<bool, HostError> {
    let query = HiddenQuery { viewer_id: viewer.to_owned(), owner_ids: vec![other.to_owned()] };
    Ok(!hidden(query)?.owner_ids.is_empty())
}

fn blocked(blocker: &str, blocked: &str) -> Tuple {
    Tuple::new(format!("owner:{blocker}"), "blocked", format!("owner:{blocked}"))
}

/// Publishes an event to capabilities only.
fn publish(
    call: &Call,
    event: Event<Data<BlockData>>,
    stored: &Stored<Record>,
    summary: &'static str,
) -> Result<(), HostError> {
    let Record { subject, object, .. } = &stored.value;
    let blocked = BlockData { blocker_id: subject.clone(), blocked_id: object.clone() };
    let data = Data::new(call, stored.resource(), summary, blocked);
    stored.publish(event, Audience::Capabilities, &data)
}
