//! The types of events: those that the catalog's capabilities can publish, and the host's own.

use portolan_sdk::{contract::platform::Component, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

/// The types that the host publishes itself, with their descriptions.
const HOST: &str = include_str!("host.txt");

#[output(PartialEq)]
pub(crate) struct Kind {
    r#type: String,
    /// The meaning of the event; only for the host's own types.
    description: Option<&'static str>,
    /// The actions that can publish it; empty if only the host does.
    published_by: BTreeSet<Publisher>,
}

#[output(PartialEq, Eq, PartialOrd, Ord)]
struct Publisher {
    capability: String,
    action: String,
}

/// Returns every type once, in the order of their names.
pub(crate) fn kinds(components: Vec<Component>) -> Vec<Kind> {
    let kind = |event_type: &str, description| Kind {
        r#type: event_type.to_owned(),
        description,
        published_by: BTreeSet::new(),
    };
    let own = HOST.lines().filter_map(|line| line.split_once(": "));
    let own = own.map(|(name, description)| (name.to_owned(), kind(name, Some(description))));
    let mut kinds: BTreeMap<_, _> = own.collect();
    for component in components {
        for action in component.actions {
            for event_type in action.emits {
                let (capability, action) = (component.id.clone(), action.name.clone());
                let entry = kinds.entry(event_type).or_insert_with_key(|name| kind(name, None));
                entry.published_by.insert(Publisher { capability, action });
            }
        }
    }
    kinds.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::contract::description::{Access, Status};
    use portolan_sdk::contract::platform::ComponentAction;

    fn component(id: &str, actions: &[(&str, &[&str])]) -> Component {
        let action = |(name, emits): &(&str, &[&str])| ComponentAction {
            name: (*name).to_owned(),
            access: Access::Write,
            emits: emits.iter().map(|kind| (*kind).to_owned()).collect(),
        };
        let (sunset_at, successor) = (None, None);
        let [id, title, version, digest] = [id, id, "1.0.0", ""].map(str::to_owned);
        let actions = actions.iter().map(action).collect();
        let status = Status::Stable;
        Component { id, version, title, status, sunset_at, successor, digest, actions }
    }

    #[test]
    fn each_type_is_listed_once_with_its_publishers() {
        let kinds = kinds(vec![
            component("library", &[("lend", &["book.moved"]), ("close", &[])]),
            component("shop", &[("sell", &["book.moved", "catalog.changed", "shop.sold"])]),
        ]);
        let listed: Vec<_> = kinds
            .iter()
            .map(|Kind { r#type, description, published_by }| {
                let publishers =
                    published_by.iter().map(|by| format!("{} {}", by.capability, by.action));
                let publishers = publishers.collect::<Vec<_>>().join(", ");
                (r#type.as_str(), description.is_some(), publishers)
            })
            .collect();
        let expected = [
            ("book.moved", false, "library lend, shop sell"),
            ("catalog.changed", true, "shop sell"),
            ("notifications.digest", true, ""),
            ("shop.sold", false, "shop sell"),
            ("stream.gap", true, ""),
            ("webhook.challenge", true, ""),
            ("webhook.disabled", true, ""),
            ("webhook.test", true, ""),
        ];
        assert_eq!(listed, expected.map(|(kind, own, by)| (kind, own, by.to_owned())));
    }
}
