//! The data of the event `catalog.changed`: the changed capabilities, and whether a change is breaking.

use crate::{breaking::describe_breaking_changes, snapshot::Snapshot};
use portolan_store::ServedCapability;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Compares the capabilities that were served before with those that are served now. The records decide
/// what has changed, because the snapshot before a start no longer exists; the snapshots show whether a
/// change is breaking.
pub(super) fn difference(
    before: &BTreeMap<String, ServedCapability>,
    after: &BTreeMap<String, ServedCapability>,
    current: &Snapshot,
    next: &Snapshot,
) -> Value {
    let ids: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let (mut added, mut removed, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids {
        let old = before.get(id).and_then(|served| served.version.as_deref());
        let new = after.get(id).and_then(|served| served.version.as_deref());
        match (old, new) {
            (None, Some(_)) => added.push(id),
            (Some(_), None) => removed.push(id),
            (Some(old), Some(new)) if old != new => {
                let breaking = is_breaking(id, current, next).unwrap_or(major(old) != major(new));
                let (from, to) = (version(old), version(new));
                changed.push(json!({ "id": id, "from": from, "to": to, "breaking": breaking }));
            }
            _ => {}
        }
    }
    json!({
        "v": 1,
        "catalog_version": next.version,
        "added": added,
        "removed": removed,
        "changed": changed,
        "next": { "http": { "method": "GET", "url": "/v1/capabilities" } },
    })
}

/// Returns whether the change breaks callers; `None` if a snapshot lacks the capability.
fn is_breaking(id: &str, current: &Snapshot, next: &Snapshot) -> Option<bool> {
    let (old, new) = (current.capabilities.get(id)?, next.capabilities.get(id)?);
    Some(!describe_breaking_changes(&old.descriptor, &new.descriptor).is_empty())
}

/// Returns the version without the digest that follows it.
fn version(build: &str) -> &str {
    build.split(' ').next().unwrap_or_default()
}

fn major(build: &str) -> &str {
    build.split('.').next().unwrap_or_default()
}
