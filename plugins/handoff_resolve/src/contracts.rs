//! The contracts of the manifest, and those that every host has.

use crate::types::*;
use portolan_sdk::prelude::*;

/// The contracts with which the feeds are built.
const OF_HOST: &str = include_str!("../../../feeds/data/handoffs.toml");

#[derive(Deserialize)]
struct File {
    never_carries: Vec<String>,
    contract: Vec<OfHost>,
}

#[derive(Deserialize)]
struct OfHost {
    id: String,
    intent: String,
    title: String,
    #[serde(flatten)]
    from: From,
    #[serde(flatten)]
    to: To,
    #[serde(flatten)]
    requires: Requires,
    carries: Vec<String>,
    consent_text: String,
}

pub(crate) fn of_record(record: Stored<Handoff>) -> Contract {
    let Stored { id, value, .. } = record;
    view!(value => Contract {
        title, intent, from, to, requires, consent_text, carries, never_carries;
        available: false,
        id,
    })
}

/// Returns the contracts that every host has, for records of this feed or of all.
pub(crate) fn of_host(feed: Option<&str>) -> Vec<Contract> {
    // The file is part of the component, and a test reads it.
    let Ok(File { never_carries, contract }) = toml::from_str(OF_HOST) else { return Vec::new() };
    let fits = |contract: &OfHost| feed.is_none_or(|feed| contract.from.feed == feed);
    let contracts = contract.into_iter().filter(fits);
    let view = |contract: OfHost| {
        view!(contract => Contract {
            id, title, intent, from, to, requires, consent_text, carries;
            never_carries: never_carries.clone(),
            available: false,
        })
    };
    contracts.map(view).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_the_contracts_of_the_feeds() {
        let all = of_host(None);
        assert_eq!(all.len(), 9);
        assert_eq!(all[0].never_carries.len(), 4);
        let of_roles = of_host(Some("roles"));
        assert!(!of_roles.is_empty());
        assert!(of_roles.iter().all(|contract| contract.from.feed == "roles"));
    }
}
