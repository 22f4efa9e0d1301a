//! The contracts that lead from a record to a call.

use crate::types::*;
use portolan_sdk::{feeds::Feed, prelude::*};

const HANDOFFS: Feed<Contract> = Feed::new("handoffs");
/// The feeds whose records do not name their contracts. Every record of such a feed has all contracts of the feed.
const UNNAMED: [&str; 2] = ["roles", "people"];

/// The part of a handoff contract that is read.
#[derive(Debug, Clone, Deserialize)]
struct Contract {
    title: String,
    intent: String,
    from: From,
}

#[derive(Debug, Clone, Deserialize)]
struct From {
    feed: String,
}

/// The ids of the contracts that begin at records which do not name them.
#[derive(Debug, Default)]
pub(crate) struct Beginnings {
    /// Pairs of a feed and a contract's id.
    contracts: Vec<(String, String)>,
}

impl Beginnings {
    pub(crate) fn load() -> Result<Self, HostError> {
        let found = HANDOFFS.find(Query::new().filter(field("from.feed").one_of(UNNAMED)))?;
        let pair = |Stored { id, value, .. }: Stored<Contract>| (value.from.feed, id);
        Ok(Self { contracts: found.into_documents().map(pair).collect() })
    }

    /// Returns the ids of the contracts that begin at records of a feed.
    pub(crate) fn at(&self, feed: &str) -> Vec<String> {
        let begins = self.contracts.iter().filter(|(from, _)| from == feed);
        begins.map(|(_, id)| id.clone()).collect()
    }
}

/// Returns contracts by their ids; those that the manifest no longer has are omitted.
pub(crate) fn handoffs<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Result<Vec<HandoffView>, HostError> {
    let found = HANDOFFS.get_many(ids)?.into_iter().flatten();
    let view = |Stored { id, value, .. }: Stored<Contract>| view!(value => HandoffView { title, intent; id });
    Ok(found.map(view).collect())
}
