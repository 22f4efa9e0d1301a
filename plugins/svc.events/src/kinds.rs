//! The types of events: those that the catalog's capabilities can publish, and the host's own.

use portolan_sdk::{contract::platform::Component, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

/// The types that the host publishes itself.
const HOST: [(&str, &str); 5] = [
    ("catalog.changed", "A capability was added, removed or replaced: fetch the catalog again."),
    (
        "stream.gap",
        "Events were dropped before you acknowledged them, because they are kept for 30 days; the data tells from which sequence to which.",
    ),
    (
        "webhook.challenge",
        "Sent to a webhook that is to be verified: its answer must repeat `data.challenge`.",
    ),
    (
        "webhook.disabled",
        "One of your webhooks was disabled, after five days of failures or an answer of 410: mend it and verify it again.",
    ),
    ("webhook.test", "Sent to a webhook because its agent asked for a test."),
];

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
    let own = HOST.map(|(name, description)| (name.to_owned(), kind(name, Some(description))));
    let mut kinds = BTreeMap::from(own);
    for component in components {
        for action in component.actions {
            for event_type in action.emits {
                let publisher =
                    Publisher { capability: component.id.clone(), action: action.name.clone() };
                let entry = kinds.entry(event_type).or_insert_with_key(|name| kind(name, None));
                entry.published_by.insert(publisher);
            }
        }
    }
    kinds.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::contract::{
        description::{Access, Status},
        platform::ComponentAction,
    };

    fn component(id: &str, actions: &[(&str, &[&str])]) -> Component {
        let action = |(name, emits): &(&str, &[&str])| ComponentAction {
            name: (*name).to_owned(),
            access: Access::Write,
            emits: emits.iter().map(|kind| (*kind).to_owned()).collect(),
        };
        Component {
            id: id.to_owned(),
            version: "1.0.0".to_owned(),
            title: id.to_owned(),
            status: Status::Stable,
            sunset_at: None,
            successor: None,
            digest: String::new(),
            actions: actions.iter().map(action).collect(),
        }
    }

    #[test]
    fn each_type_is_listed_once_with_its_publishers() {
        let kinds = kinds(vec![
            component("library", &[("lend", &["book.moved"]), ("close", &[])]),
            component("shop", &[("sell", &["book.moved", "catalog.changed", "shop.sold"])]),
        ]);
        let named: Vec<_> = kinds.iter().map(|kind| kind.r#type.as_str()).collect();
        assert_eq!(
            named,
            [
                "book.moved",
                "catalog.changed",
                "shop.sold",
                "stream.gap",
                "webhook.challenge",
                "webhook.disabled",
                "webhook.test",
            ]
        );
        let publishers = |index: usize| -> Vec<_> {
            let publishers = kinds[index].published_by.iter();
            publishers
                .map(|publisher| (publisher.capability.as_str(), publisher.action.as_str()))
                .collect()
        };
        assert_eq!(publishers(0), [("library", "lend"), ("shop", "sell")]);
        assert_eq!((kinds[0].description, kinds[1].description.is_some()), (None, true));
        assert_eq!((publishers(1), publishers(3)), (vec![("shop", "sell")], vec![]));
    }
}
