//! Who has blocked whom, and what that ends.

use crate::{
    ids::id,
    types::{Kind, RELATIONSHIPS},
};
use common::relations::{Hidden, Whom};
use portolan_sdk::prelude::*;

/// Those who have blocked the viewer, or were blocked by them.
pub(crate) fn hidden(whom: Whom) -> Result<Hidden, HostError> {
    let viewer = whom.viewer_id.as_str();
    let blocks = |(blocker, blocked)| id(Kind::Block, blocker, blocked);
    let pairs = whom.owner_ids.iter().flat_map(|other| [(viewer, other.as_str()), (other, viewer)]);
    let found = RELATIONSHIPS.get_many(pairs.map(blocks))?;
    let either = found.chunks(2).map(|pair| pair.iter().any(Option::is_some));
    let owner_ids = whom.owner_ids.iter().zip(either).filter(|(_, hidden)| *hidden);
    Ok(Hidden { owner_ids: owner_ids.map(|(other, _)| other.clone()).collect() })
}
