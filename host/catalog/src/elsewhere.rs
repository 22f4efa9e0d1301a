//! What other nodes of the database serve, as each of them records it.

use crate::{capability::Capability, snapshot::Snapshot};
use portolan_vocabulary::Publisher;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The capabilities that one node serves, by id.
pub(super) type NodeCatalog = BTreeMap<String, ServedElsewhere>;

/// What other nodes have to know of a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServedElsewhere {
    /// The publisher in its written form.
    publisher: String,
    /// The former publishers.
    #[serde(default)]
    predecessors: Vec<String>,
    /// The type of event and the internal action of each subscription.
    subscriptions: BTreeSet<(String, String)>,
}

impl ServedElsewhere {
    pub(super) fn of(capability: &Capability) -> Self {
        let subscriptions = capability.descriptor.subscriptions.iter();
        let subscription = |subscription: &portolan_vocabulary::Subscription| {
            (subscription.event_type.clone(), subscription.action.clone())
        };
        Self {
            publisher: capability.publisher.to_string(),
            predecessors: capability.predecessors.iter().map(ToString::to_string).collect(),
            subscriptions: subscriptions.map(subscription).collect(),
        }
    }
}

/// What the other nodes serve, also if it is what this node serves: a call may have begun with an older snapshot. If they
/// serve different versions of a capability, one of them counts, so that no subscriber gets an event twice.
#[derive(Debug, Default)]
pub(super) struct Elsewhere(NodeCatalog);

impl Elsewhere {
    pub(super) fn of<'a>(catalogs: impl Iterator<Item = &'a NodeCatalog>) -> Self {
        Self(catalogs.flatten().map(|(id, served)| (id.clone(), served.clone())).collect())
    }

    /// Returns whether other nodes serve a capability, and this one does not.
    pub(super) fn alone_serves(&self, snapshot: &Snapshot, id: &str) -> bool {
        self.0.contains_key(id) && !snapshot.capabilities.contains_key(id)
    }

    /// Returns the capability and the internal action of each subscriber that only other nodes serve and that may
    /// receive a type of event. `publisher` is the capability that publishes it; `None` if the host does.
    pub(super) fn subscribers(
        &self,
        snapshot: &Snapshot,
        publisher: Option<&Capability>,
        event_type: &str,
    ) -> Vec<(String, String)> {
        let mut subscribers = Vec::new();
        for (id, served) in &self.0 {
            let own =
                served.subscriptions.iter().filter(|(subscribed, _)| subscribed == event_type);
            let actions: Vec<&String> = own.map(|(_, action)| action).collect();
            if actions.is_empty() || snapshot.capabilities.contains_key(id.as_str()) {
                continue;
            }
            let Ok(of) = served.publisher.parse::<Publisher>() else { continue };
            let before = served.predecessors.iter().filter_map(|text| text.parse().ok());
            let before: Vec<Publisher> = before.collect();
            if snapshot.permits_subscriber(publisher, (id, &of, &before), event_type) {
                subscribers.extend(actions.into_iter().map(|action| (id.clone(), action.clone())));
            }
        }
        subscribers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(subscriptions: &[(&str, &str)]) -> ServedElsewhere {
        let owned = |(event, action): &(&str, &str)| ((*event).to_owned(), (*action).to_owned());
        let subscriptions = subscriptions.iter().map(owned).collect();
        ServedElsewhere { publisher: "host".to_owned(), predecessors: Vec::new(), subscriptions }
    }

    #[test]
    fn one_of_several_versions_counts_and_a_record_is_read_as_it_is_written() {
        let older = NodeCatalog::from([("notes".to_owned(), served(&[("a.b", "on_older")]))]);
        let newer = NodeCatalog::from([
            ("notes".to_owned(), served(&[("a.b", "on_newer"), ("a.c", "on_c")])),
            ("ledger".to_owned(), served(&[])),
        ]);
        let text = serde_json::to_string(&newer).unwrap();
        assert_eq!(serde_json::from_str::<NodeCatalog>(&text).unwrap(), newer);
        let Elsewhere(merged) = Elsewhere::of([&older, &newer].into_iter());
        assert_eq!(merged, newer);
    }
}
