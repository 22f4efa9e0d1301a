//! The description of a capability as a tool.

use portolan_catalog::Capability;
use portolan_vocabulary::Access;

/// Returns the description of a capability and the list of its actions with what each requires.
pub(super) fn description(capability: &Capability) -> String {
    let mut text = capability.descriptor.description.trim().to_owned();
    if text.is_empty() {
        text.clone_from(&capability.descriptor.summary);
    }
    text.push_str("\n\nActions:");
    for action in capability.callable() {
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
    text
}
