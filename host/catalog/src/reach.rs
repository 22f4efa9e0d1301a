//! What a component may reach: the actions of others that it calls, the events that it publishes and
//! receives, and the capabilities that may call its internal actions.

use crate::{
    action::Action,
    capability::Capability,
    problem::{Problems, excerpt},
};
use portolan_vocabulary::{
    Access, ActionDescriptor, Descriptor, ErrorCode, Failure, HOST_EVENTS, Invocation,
    is_capability_id, is_event_type, is_snake_case,
};

/// The most entries of each list.
const ENTRIES: usize = 200;

const EVENT_TYPE_FIX: &str =
    "join two or more names of lower-case letters, digits and _ with dots, such as pairing.replied";

impl Capability {
    /// Ensures that this capability may call an action of another one: it declares the call, and an
    /// internal action names it as a caller.
    pub fn ensure_reaches(&self, callee: &Self, action: &Action) -> Result<(), Failure> {
        let (id, name) = (&*callee.id, action.descriptor.name.as_str());
        let is_declared =
            |declared: &Invocation| declared.capability == id && declared.action == name;
        if !self.descriptor.invokes.iter().any(is_declared) {
            let message = format!("{} does not declare that it invokes {id} {name}.", self.id);
            return Err(Failure::new(ErrorCode::NotPermitted).message(message));
        }
        let is_caller = |caller: &String| **caller == *self.id;
        if action.descriptor.access == Access::Internal
            && !action.descriptor.callers.iter().any(is_caller)
        {
            let message = format!("{id} {name} does not name {} as a caller.", self.id);
            return Err(Failure::new(ErrorCode::NotPermitted).message(message));
        }
        Ok(())
    }
}

/// Checks what a descriptor says about its reach.
pub(super) fn check_reach(descriptor: &Descriptor, problems: &mut Problems) {
    check_invokes(descriptor, problems);
    check_publishes(descriptor, problems);
    for subscription in &descriptor.subscriptions {
        let is_internal = |action: &&ActionDescriptor| action.access == Access::Internal;
        let mut internal = descriptor.actions.iter().filter(is_internal);
        if !internal.any(|action| action.name == subscription.action) {
            problems.add(
                format!("subscriptions.{}", excerpt(&subscription.event_type)),
                format!("{:?} is not an internal action", excerpt(&subscription.action)),
                "name an action of access internal",
            );
        }
    }
    for action in &descriptor.actions {
        check_callers(action, problems);
        for event_type in &action.emits {
            if !descriptor.publishes.iter().any(|declared| declared.event_type == *event_type) {
                problems.add(
                    format!("actions.{}.emits", excerpt(&action.name)),
                    format!("{:?} is not declared", excerpt(event_type)),
                    "declare it in the descriptor's publishes",
                );
            }
        }
    }
}

fn check_invokes(descriptor: &Descriptor, problems: &mut Problems) {
    if descriptor.invokes.len() > ENTRIES {
        problems.add("invokes", format!("more than {ENTRIES}"), "split the capability");
    }
    let names: Vec<_> = descriptor.invokes.iter().map(edge).collect();
    problems.add_duplicates("invokes", names.iter().map(|name| excerpt(name)));
    for invocation in &descriptor.invokes {
        let Invocation { capability, action } = invocation;
        let fault = match is_capability_id(capability) && is_snake_case(action) {
            false => "is not an id and an action",
            true if *capability == descriptor.id => "is of this capability itself",
            true => continue,
        };
        problems.add(
            format!("invokes.{}", excerpt(&edge(invocation))),
            fault,
            "name an action of another capability",
        );
    }
}

fn check_publishes(descriptor: &Descriptor, problems: &mut Problems) {
    let event_types = || descriptor.publishes.iter().map(|declared| declared.event_type.as_str());
    if descriptor.publishes.len() > ENTRIES {
        problems.add("publishes", format!("more than {ENTRIES}"), "split the capability");
    }
    problems.add_duplicates("publishes", event_types().map(excerpt));
    for event_type in event_types() {
        let fault = match HOST_EVENTS.contains(&event_type) {
            true => "is the host's own",
            false if is_event_type(event_type) => continue,
            false => "is not a dotted name",
        };
        problems.add(format!("publishes.{}", excerpt(event_type)), fault, EVENT_TYPE_FIX);
    }
}

fn check_callers(action: &ActionDescriptor, problems: &mut Problems) {
    let at = format!("actions.{}.callers", excerpt(&action.name));
    if action.access != Access::Internal && !action.callers.is_empty() {
        problems.add(
            &at,
            "the action is not internal",
            "leave it out, or make the action internal",
        );
    }
    if action.callers.len() > ENTRIES {
        problems.add(&at, format!("more than {ENTRIES}"), "leave some out");
    }
    for caller in action.callers.iter().filter(|caller| !is_capability_id(caller)) {
        problems.add(&at, format!("{:?} is not a capability id", excerpt(caller)), "name ids");
    }
}

fn edge(invocation: &Invocation) -> String {
    format!("{}.{}", invocation.capability, invocation.action)
}
