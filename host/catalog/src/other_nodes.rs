//! Compares what this node serves with what the nodes of its database served when one of them changed its catalog last.

use crate::{
    catalog::Catalog,
    publish::{fingerprint, served_version},
};
use portolan_store::{DbError, ServedCapability};
use portolan_vocabulary::Timestamp;
use std::{collections::BTreeMap, time::Duration};

/// How long a change of a catalog may take to arrive at all nodes before they are compared.
const SETTLED: Duration = Duration::from_secs(10);

/// The catalog of another node that serves something else than this one.
#[derive(Debug)]
pub struct OtherCatalog {
    /// When that node has changed its catalog.
    pub since: Timestamp,
    pub differences: CatalogDifferences,
}

/// The differences between the catalogs of two nodes: ids of capabilities.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CatalogDifferences {
    /// Capabilities that only the other node serves.
    pub missing: Vec<String>,
    /// Capabilities that only this node serves.
    pub own: Vec<String>,
    /// Capabilities of which the nodes serve different versions.
    pub versions: Vec<String>,
}

impl Catalog {
    /// Returns the catalog of the node that has changed its catalog last, if it differs from that of this node and
    /// neither is still changing. On SQLite there is one node.
    pub async fn other_catalog(&self) -> Result<Option<OtherCatalog>, DbError> {
        let status = self.status();
        if self.store.system() == "sqlite"
            || !status.pending.is_empty()
            || !status.migrations.is_empty()
        {
            return Ok(None);
        }
        let Some(recorded) = self.store.find_catalog_state().await? else { return Ok(None) };
        let snapshot = self.snapshot();
        if recorded.fingerprint == fingerprint(&snapshot.capabilities)
            || recorded.changed_at.plus(SETTLED) > self.options.clock.now()
        {
            return Ok(None);
        }
        let own: BTreeMap<String, String> = snapshot
            .capabilities
            .values()
            .map(|own| (own.id.to_string(), served_version(own)))
            .collect();
        let differences = differences(&self.store.list_served().await?, &own);
        Ok(Some(OtherCatalog { since: recorded.changed_at, differences }))
    }
}

/// Returns what a node serves otherwise than the record says. `own` has the served version of each id.
fn differences(
    recorded: &BTreeMap<String, ServedCapability>,
    own: &BTreeMap<String, String>,
) -> CatalogDifferences {
    let mut found = CatalogDifferences::default();
    for (id, served) in recorded {
        match (&served.version, own.get(id)) {
            (Some(_), None) => found.missing.push(id.clone()),
            (None, Some(_)) => found.own.push(id.clone()),
            (Some(there), Some(here)) if there != here => found.versions.push(id.clone()),
            _ => {}
        }
    }
    found.own.extend(own.keys().filter(|id| !recorded.contains_key(*id)).cloned());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_of_one_node_and_other_versions_are_differences() {
        let since = Timestamp::from_millis(1);
        let served =
            |version: Option<&str>| ServedCapability { since, version: version.map(str::to_owned) };
        let recorded: BTreeMap<String, ServedCapability> = [
            ("equal", served(Some("1.0.0 a"))),
            ("former", served(None)),
            ("missing", served(Some("1.0.0 b"))),
            ("newer", served(Some("1.1.0 c"))),
            ("own", served(None)),
        ]
        .map(|(id, served)| (id.to_owned(), served))
        .into();
        let own: BTreeMap<String, String> = [
            ("equal", "1.0.0 a"),
            ("newer", "1.0.0 d"),
            ("own", "1.0.0 e"),
            ("unknown", "1.0.0 f"),
        ]
        .map(|(id, version)| (id.to_owned(), version.to_owned()))
        .into();
        let expected = CatalogDifferences {
            missing: vec!["missing".to_owned()],
            own: vec!["own".to_owned(), "unknown".to_owned()],
            versions: vec!["newer".to_owned()],
        };
        assert_eq!(differences(&recorded, &own), expected);
    }
}
