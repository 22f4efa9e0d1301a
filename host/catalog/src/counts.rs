//! How many entries the lists of a descriptor may have. They are counted before anything else is checked,
//! because other checks compare the entries of two lists, or compile something for each entry.

use crate::problem::{Problems, excerpt};
use portolan_vocabulary::Descriptor;

/// The maximum number of entries of lists of names.
const NAMES: usize = 200;
const TAGS: usize = 20;
const ACTIONS: usize = 100;
const EXAMPLES: usize = 20;
const COLLECTIONS: usize = 50;
/// The maximum number of paths that a collection indexes, those of texts included: each is a column of a
/// table.
const PATHS: usize = 100;
const PEOPLE: usize = 100;
const STATE_MACHINES: usize = 20;
const STATES: usize = 100;
const TRANSITIONS: usize = 1_000;
const PROMPTS: usize = 20;
const ARGUMENTS: usize = 10;
/// The maximum number of annotations of a capability with its actions and collections.
const ANNOTATIONS: usize = 1_000;

pub(super) fn check_counts(descriptor: &Descriptor, problems: &mut Problems) {
    let Descriptor { actions, collections, state_machines, prompts, .. } = descriptor;
    let mut ensure = |at: &str, part: &str, entries: usize, most: usize| {
        if entries > most {
            let at = [at, part].join(if at.is_empty() || part.is_empty() { "" } else { "." });
            let problem = format!("more than {most}: {entries}");
            problems.add(at, problem, "leave some out, or split the capability");
        }
    };
    for (part, entries, most) in [
        ("tags", descriptor.tags.len(), TAGS),
        ("actions", actions.len(), ACTIONS),
        ("errors", descriptor.errors.len(), NAMES),
        ("collections", collections.len(), COLLECTIONS),
        ("invokes", descriptor.invokes.len(), NAMES),
        ("publishes", descriptor.publishes.len(), NAMES),
        ("subscriptions", descriptor.subscriptions.len(), NAMES),
        ("state_machines", state_machines.len(), STATE_MACHINES),
        ("roles", descriptor.roles.len(), NAMES),
        ("prompts", prompts.len(), PROMPTS),
        ("annotations", descriptor.annotations.len(), ANNOTATIONS),
    ] {
        ensure("", part, entries, most);
    }
    for action in actions {
        let at = format!("actions.{}", excerpt(&action.name));
        for (part, entries, most) in [
            ("errors", action.errors.len(), NAMES),
            ("emits", action.emits.len(), NAMES),
            ("callers", action.callers.len(), NAMES),
            ("examples", action.examples.len(), EXAMPLES),
        ] {
            ensure(&at, part, entries, most);
        }
    }
    for collection in collections {
        let at = format!("collections.{}", excerpt(&collection.name));
        let indexed =
            collection.indexes.iter().map(|index| index.paths.len().max(1)).sum::<usize>();
        let people = collection.people.as_deref().unwrap_or_default();
        let fields = people.iter().map(|person| person.fields.len().max(1)).sum();
        for (part, entries, most) in
            [("indexes", indexed + collection.text.len(), PATHS), ("people", fields, PEOPLE)]
        {
            ensure(&at, part, entries, most);
        }
    }
    for machine in state_machines {
        let at = format!("state_machines.{}", excerpt(&machine.name));
        let transitions = machine.transitions.iter();
        let steps = transitions.map(|step| step.from.len().max(1) * step.to.len().max(1)).sum();
        for (part, entries, most) in
            [("states", machine.states.len(), STATES), ("transitions", steps, TRANSITIONS)]
        {
            ensure(&at, part, entries, most);
        }
    }
    for prompt in prompts {
        let at = format!("prompts.{}", excerpt(&prompt.name));
        for (part, entries, most) in [
            ("arguments", prompt.arguments.len(), ARGUMENTS),
            ("requires", prompt.requires.len(), NAMES),
        ] {
            ensure(&at, part, entries, most);
        }
    }
}
