//! The names of organisations.

use crate::types::TargetName;
use portolan_sdk::prelude::*;
use record_search::{TARGETS, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the names of organisations, by their ids.
pub(crate) fn names<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Result<BTreeMap<String, TargetName>, HostError> {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = TARGETS.get_many(ids)?.into_iter().flatten();
    let named = |Stored { id, value: Target { properties }, .. }: Stored<Target>| {
        let name = properties.name;
        (id.clone(), TargetName { id, name, neighbourhood: properties.geo.neighbourhood })
    };
    Ok(found.map(named).collect())
}
