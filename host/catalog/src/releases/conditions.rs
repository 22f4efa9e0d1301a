//! Which versions may be given to a share of callers: those beside which the served version stays whole.

use crate::{
    breaking::find_breaking_changes,
    candidate::namespaces,
    capability::Capability,
    problem::{Problem, Problems},
};
use portolan_vocabulary::{Access, ActionDescriptor, Collection, Descriptor};
use std::collections::BTreeSet;

const WHOLE: &str = "publish it whole, without --share; try it before with `portolan rehearse`";

/// Returns why a version cannot be given to a share of callers while another one serves, each with its fix; nothing if
/// it can. Both read and write the same documents, are reached by the same timers and events, and are described by the
/// served one.
pub(crate) fn obstacles(served: &Capability, candidate: &Capability) -> Vec<Problem> {
    let (old, new) = (&served.descriptor, &candidate.descriptor);
    let mut problems = Problems::default();
    if candidate.publisher != served.publisher {
        problems.add("publisher", "is another one than that of the served version", WHOLE);
    }
    for Problem { at, problem, .. } in find_breaking_changes(old, new) {
        problems.add(at, format!("{problem}: callers of both versions rely on it"), WHOLE);
    }
    compare_collections(old, new, &mut problems);
    compare_internal_actions(old, new, &mut problems);
    if subscriptions(old) != subscriptions(new) {
        let problem = "are others: events go to the actions of the served version";
        problems.add("subscriptions", problem, WHOLE);
    }
    let (before, after) = (namespaces(served), namespaces(candidate));
    for namespace in after.difference(&before) {
        problems.add("publishes", format!("has events of {namespace}, which are new"), WHOLE);
    }
    let roles = |descriptor: &Descriptor| -> BTreeSet<String> {
        descriptor.roles.iter().cloned().collect()
    };
    if roles(old) != roles(new) {
        problems.add("roles", "are others than those of the served version", WHOLE);
    }
    problems.0
}

/// Finds collections whose documents or indexes differ.
fn compare_collections(old: &Descriptor, new: &Descriptor, problems: &mut Problems) {
    let find = |descriptor: &Descriptor, name: &str| -> Option<Collection> {
        descriptor.collections.iter().find(|collection| collection.name == name).cloned()
    };
    let names: BTreeSet<&String> = [old, new]
        .into_iter()
        .flat_map(|descriptor| descriptor.collections.iter().map(|collection| &collection.name))
        .collect();
    for name in names {
        let at = format!("collections.{name}");
        let problem = match (find(old, name), find(new, name)) {
            (Some(before), Some(after)) if before.version != after.version => format!(
                "has version {} instead of {}: its documents must be migrated, and both versions would use them",
                after.version, before.version
            ),
            // The declaration of both as text, because their types have no equality.
            (Some(before), Some(after)) if format!("{before:?}") != format!("{after:?}") => {
                "is declared otherwise: its indexes must be changed, and both versions would use them".to_owned()
            }
            (Some(_), Some(_)) => continue,
            (Some(_), None) => "is removed, and the served version uses it".to_owned(),
            (None, _) => "is new, and the served version does not know it".to_owned(),
        };
        problems.add(at, problem, WHOLE);
    }
}

/// Finds internal actions that only one of the versions has, or that take another input: a timer that one version has
/// set is run by the served one.
fn compare_internal_actions(old: &Descriptor, new: &Descriptor, problems: &mut Problems) {
    let internal = |descriptor: &'_ Descriptor| -> BTreeSet<(String, String)> {
        let actions = descriptor.actions.iter();
        let internal = actions.filter(|action| action.access == Access::Internal);
        internal.map(|action| (action.name.clone(), input(action))).collect()
    };
    let (before, after) = (internal(old), internal(new));
    let differing: BTreeSet<&String> =
        before.symmetric_difference(&after).map(|(name, _)| name).collect();
    for name in differing {
        let problem = "is not the same internal action in both versions: timers and events are run by the served one";
        problems.add(format!("action {name}"), problem, WHOLE);
    }
}

fn input(action: &ActionDescriptor) -> String {
    action.input.as_ref().map_or_else(String::clone, ToString::to_string)
}

fn subscriptions(descriptor: &Descriptor) -> BTreeSet<(String, String)> {
    let subscriptions = descriptor.subscriptions.iter();
    subscriptions.map(|one| (one.event_type.clone(), one.action.clone())).collect()
}
