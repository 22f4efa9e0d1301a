//! The capability `social_relationships`: who follows, knows, blocks and mutes whom.

mod blocks;
mod ids;
mod life;
mod types;

use common::relations::{Hidden, Whom};
use portolan_sdk::prelude::*;
use types::*;

struct SocialRelationships;

/// Follow, connect, block and mute people.
#[capability(
    id = "social_relationships",
    title = "Relationships",
    tags = ["people", "safety"],
    collections = [RELATIONSHIPS]
)]
impl SocialRelationships {
    /// Tell another capability whom a person must not see.
    ///
    /// These are the people who have blocked the person, and those whom the person has blocked.
    #[action(access = internal, idempotent)]
    fn hidden(_call: &Call, input: Whom) -> Result<Hidden, Refusal> {
        Ok(blocks::hidden(input)?)
    }
}
