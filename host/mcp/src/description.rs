//! The description of a capability as a tool.

use portolan_catalog::{Action, Capability};
use portolan_vocabulary::{Access, SCOPES};

/// Returns the description of a capability, the list of these of its actions with what each requires, and the
/// scopes that the others need.
pub(super) fn description(capability: &Capability, actions: &[&Action]) -> String {
    let mut text = capability.descriptor.description.trim().to_owned();
    if text.is_empty() {
        text.clone_from(&capability.descriptor.summary);
    }
    text.push_str("\n\nActions:");
    for action in actions {
        let descriptor = &action.descriptor;
        let requirement = match descriptor.access {
            Access::Read => "reads",
            Access::Write => "writes; a person must have claimed this agent",
            Access::Events => "needs the scope svc.events",
            Access::Open | Access::Internal => "any agent",
        };
        let name = &descriptor.name;
        text.push_str(&format!("\n- {name} ({requirement}): {}", descriptor.title));
        if let Some(reason) = &descriptor.deprecated {
            text.push_str(&format!(" Deprecated: {reason}"));
        }
    }
    let others = || {
        let is_listed = |name: &str| actions.iter().any(|action| action.descriptor.name == name);
        capability.callable().filter(move |action| !is_listed(&action.descriptor.name))
    };
    let missing = SCOPES
        .iter()
        .filter(|scope| others().any(|action| action.descriptor.access.scope() == Some(**scope)));
    let missing: Vec<&str> = missing.copied().collect();
    if !missing.is_empty() {
        text.push_str(&format!("\nA token with {} has more actions.", missing.join(" or ")));
    }
    text
}
