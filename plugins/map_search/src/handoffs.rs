//! The contracts that lead from a record to a call.

use crate::types::*;
use portolan_sdk::{feeds::Feed, prelude::*};

const HANDOFFS: Feed<Contract> = Feed::new("handoffs");

/// The part of a handoff contract that is read.
#[derive(Debug, Clone, Deserialize)]
struct Contract {
    title: String,
    intent: String,
}

/// Returns contracts by their ids; those that the manifest no longer has are omitted.
pub(crate) fn handoffs<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Result<Vec<HandoffView>, HostError> {
    let found = HANDOFFS.get_many(ids)?.into_iter().flatten();
    let view = |Stored { id, value, .. }: Stored<Contract>| view!(value => HandoffView { title, intent; id });
    Ok(found.map(view).collect())
}
