//! The reach of a component: the actions of others that it calls, the events that it publishes and
//! receives, and the capabilities that may call its internal actions.

use crate::{
    action::Action,
    capability::Capability,
    permission::Permission,
    problem::{Problem, Problems, excerpt},
    snapshot::Snapshot,
};
use portolan_sandbox::ImportKind;
use portolan_vocabulary::{
    Access, ActionDescriptor, CATALOG_CHANGED, Descriptor, ErrorCode, FEEDS_PUBLISHED, Failure,
    HOST_EVENTS, Invocation, Publisher, is_always_delivered, is_capability_id, is_event_type,
    is_snake_case,
};
use std::collections::BTreeSet;

const OWN_FAMILY_FIX: &str = "begin the type with a name of your own, such as weather.warned";
const EVENT_TYPE_FIX: &str =
    "join two or more names of lower-case letters, digits and _ with dots, such as pairing.replied";

impl Snapshot {
    /// Ensures that a capability may call an action of another one: it declares the call, and the call
    /// needs no permission or has it.
    pub fn ensure_reachable(
        &self,
        caller: &Capability,
        callee: &Capability,
        action: &Action,
    ) -> Result<(), Failure> {
        let (from, to, name) = (&caller.id, &callee.id, &action.descriptor.name);
        let invocation = Invocation { capability: to.to_string(), action: name.clone() };
        caller.ensure_declared(&invocation)?;
        if needs_permission(caller, callee, &action.descriptor)
            && !self.grants.permit(from, &Permission::Invoke(invocation))
        {
            let message =
                format!("The operator has not permitted that {from} invokes {to} {name}.");
            return Err(Failure::new(ErrorCode::NotPermitted).message(message));
        }
        Ok(())
    }

    /// Returns the capability and the internal action of each subscriber that may receive a type of event.
    /// `publisher` is the capability that publishes it; `None` if the host does.
    pub fn subscribers(
        &self,
        publisher: Option<&Capability>,
        event_type: &str,
    ) -> Vec<(String, String)> {
        let can_receive = |subscriber: &Capability| {
            !is_sensitive(publisher, subscriber, event_type)
                || self.grants.permit(&subscriber.id, &Permission::Subscribe(event_type.to_owned()))
        };
        let mut subscribers = Vec::new();
        for capability in self.capabilities.values() {
            let subscriptions = capability.descriptor.subscriptions.iter();
            let matching =
                subscriptions.filter(|subscription| subscription.event_type == event_type);
            let actions: Vec<_> =
                matching.map(|subscription| subscription.action.clone()).collect();
            if !actions.is_empty() && can_receive(capability) {
                let id = capability.id.to_string();
                subscribers.extend(actions.into_iter().map(|action| (id.clone(), action)));
            }
        }
        subscribers
    }

    /// Returns whether a subscriber of this publisher, which this node does not serve, may receive a type of event.
    /// `before` are its former publishers.
    pub(super) fn permits_subscriber(
        &self,
        publisher: Option<&Capability>,
        (id, of, before): (&str, &Publisher, &[Publisher]),
        event_type: &str,
    ) -> bool {
        let is_same = publisher.is_some_and(|publisher| {
            publisher.publisher == *of
                || publisher.predecessors.contains(of)
                || before.contains(&publisher.publisher)
        });
        !is_sensitive_to(publisher, (of, is_same), event_type)
            || self.grants.permit(id, &Permission::Subscribe(event_type.to_owned()))
    }
}

impl Capability {
    /// Ensures that the capability declares this nested call.
    pub fn ensure_declared(&self, invocation: &Invocation) -> Result<(), Failure> {
        if self.descriptor.invokes.contains(invocation) {
            return Ok(());
        }
        let Invocation { capability, action } = invocation;
        let message =
            format!("{} does not declare that it invokes {capability} {action}.", self.id);
        Err(Failure::new(ErrorCode::NotPermitted).message(message))
    }
}

/// Returns the operator's permissions that a capability needs while these other capabilities are loaded.
pub(super) fn needed_permissions<'a>(
    capability: &Capability,
    others: impl Iterator<Item = &'a Capability> + Clone,
) -> BTreeSet<Permission> {
    let mut needed = BTreeSet::new();
    if capability.publisher != Publisher::Host {
        let imports = capability.prepared.imports().iter();
        needed.extend(imports.filter_map(|import| match import.kind {
            ImportKind::Sensitive(grant) => Some(Permission::Interface(grant)),
            _ => None,
        }));
    }
    for invocation in &capability.descriptor.invokes {
        let callee = others.clone().find(|other| *other.id == *invocation.capability);
        let action = callee.and_then(|callee| Some((callee, callee.action(&invocation.action)?)));
        if action.is_some_and(|(callee, action)| {
            needs_permission(capability, callee, &action.descriptor)
        }) {
            needed.insert(Permission::Invoke(invocation.clone()));
        }
    }
    for subscription in &capability.descriptor.subscriptions {
        let event_type = &subscription.event_type;
        let mut publishers = others.clone().filter(|other| {
            other.descriptor.publishes.iter().any(|declared| declared.event_type == *event_type)
        });
        let sensitive = match HOST_EVENTS.contains(&event_type.as_str()) {
            true => is_sensitive(None, capability, event_type),
            false => publishers.any(|other| is_sensitive(Some(other), capability, event_type)),
        };
        if sensitive {
            needed.insert(Permission::Subscribe(event_type.clone()));
        }
    }
    needed
}

/// Returns whether a nested call needs the operator's permission: it calls a capability of another publisher,
/// or an internal action that does not name the caller. A read needs permission too, because it runs in the
/// name of the person whose agent called, and answers with what only that person may see.
fn needs_permission(caller: &Capability, callee: &Capability, action: &ActionDescriptor) -> bool {
    let names_caller = action.callers.iter().any(|id| **id == *caller.id);
    !caller.same_publisher(callee) || (action.access == Access::Internal && !names_caller)
}

/// Returns whether a subscriber needs the operator's permission for an event: one that another publisher
/// declares as sensitive, or one of the host's own that is not about public things. Components of the host's own
/// publisher may receive the host's events.
fn is_sensitive(publisher: Option<&Capability>, subscriber: &Capability, event_type: &str) -> bool {
    let is_same = publisher.is_some_and(|publisher| publisher.same_publisher(subscriber));
    is_sensitive_to(publisher, (&subscriber.publisher, is_same), event_type)
}

/// Returns the same for a subscriber of this publisher. `is_same` says whether that is the publishing capability's, too.
fn is_sensitive_to(
    publisher: Option<&Capability>,
    (subscriber, is_same): (&Publisher, bool),
    event_type: &str,
) -> bool {
    match publisher {
        None => {
            *subscriber != Publisher::Host
                && ![CATALOG_CHANGED, FEEDS_PUBLISHED].contains(&event_type)
        }
        Some(_) if is_same => false,
        Some(publisher) => publisher
            .descriptor
            .publishes
            .iter()
            .any(|declared| declared.event_type == event_type && declared.sensitive),
    }
}

/// Ensures that only the host's publisher publishes events of families that are always delivered, because no rule of a
/// person stops them.
pub(super) fn ensure_own_families(candidate: &Capability) -> Result<(), Vec<Problem>> {
    let mut problems = Problems::default();
    let types = candidate.descriptor.publishes.iter().map(|declared| &declared.event_type);
    for event_type in types.filter(|event_type| is_always_delivered(event_type)) {
        if candidate.publisher != Publisher::Host {
            problems.add(
                format!("publishes.{}", excerpt(event_type)),
                "is always delivered, so only the host's publisher may publish it",
                OWN_FAMILY_FIX,
            );
        }
    }
    if problems.0.is_empty() { Ok(()) } else { Err(problems.0) }
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
    let names: Vec<_> = descriptor.invokes.iter().map(invocation_name).collect();
    problems.add_duplicates("invokes", names.iter().map(|name| excerpt(name)));
    for invocation in &descriptor.invokes {
        let Invocation { capability, action } = invocation;
        let fault = match is_capability_id(capability) && is_snake_case(action) {
            false => "is not an id and an action",
            true if *capability == descriptor.id => "is of this capability itself",
            true => continue,
        };
        problems.add(
            format!("invokes.{}", excerpt(&invocation_name(invocation))),
            fault,
            "name an action of another capability",
        );
    }
}

fn check_publishes(descriptor: &Descriptor, problems: &mut Problems) {
    let event_types = || descriptor.publishes.iter().map(|declared| declared.event_type.as_str());
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
    for caller in action.callers.iter().filter(|caller| !is_capability_id(caller)) {
        problems.add(&at, format!("{:?} is not a capability id", excerpt(caller)), "name ids");
    }
}

fn invocation_name(invocation: &Invocation) -> String {
    format!("{}.{}", invocation.capability, invocation.action)
}
