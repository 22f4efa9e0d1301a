//! Compares two descriptors: actions, their access and schemas, errors, events and states.

use super::{
    declared,
    fixes::{KEEP, RESTORE},
    input::compare_input,
    output::compare_output,
};
use crate::problem::{Problem, Problems};
use portolan_vocabulary::{Access, ActionDescriptor, Descriptor};

/// Returns what a caller of the old version can no longer do, one sentence each.
pub(crate) fn describe_breaking_changes(old: &Descriptor, new: &Descriptor) -> Vec<String> {
    let sentence = |Problem { at, problem, .. }: Problem| format!("{at} {problem}");
    find_breaking_changes(old, new).into_iter().map(sentence).collect()
}

/// Returns what a caller of the old version can no longer do, each with its fix.
pub fn find_breaking_changes(old: &Descriptor, new: &Descriptor) -> Vec<Problem> {
    let mut changes = Problems::default();
    for before in old.actions.iter().filter(|action| action.access != Access::Internal) {
        match new.actions.iter().find(|action| action.name == before.name) {
            None => changes.add(format!("action {}", before.name), "is removed", KEEP),
            Some(after) => compare_actions(before, after, &mut changes),
        }
    }
    if let Some(default) = &old.default_action
        && new.default_action.as_ref() != Some(default)
    {
        let problem = format!("no longer means {default}");
        changes.add("a body without action", problem, RESTORE);
    }
    declared::compare_errors(old, new, &mut changes);
    declared::compare_events(old, new, &mut changes);
    declared::compare_states(old, new, &mut changes);
    changes.0
}

fn compare_actions(old: &ActionDescriptor, new: &ActionDescriptor, changes: &mut Problems) {
    let name = &old.name;
    if old.access != new.access && new.access != Access::Open {
        let problem = format!("needs {} instead of {}", new.access.name(), old.access.name());
        changes.add(format!("action {name}"), problem, RESTORE);
    }
    if let (Ok(old), Ok(new)) = (&old.input, &new.input) {
        compare_input(old, new, &format!("{name}: input"), changes);
    }
    if let (Ok(old), Ok(new)) = (&old.output, &new.output) {
        compare_output(old, new, &format!("{name}: output"), changes);
    }
}
