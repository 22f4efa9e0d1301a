//! The actions of a capability that a caller's scopes permit.

use portolan_catalog::{Action, Capability};
use portolan_vocabulary::AgentCaller;

/// Returns the actions of a capability that the caller's scopes permit.
pub(super) fn permitted_actions<'a>(
    capability: &'a Capability,
    caller: &AgentCaller,
) -> Vec<&'a Action> {
    let permits = |action: &&Action| {
        let scope = action.descriptor.access.scope();
        scope.is_none_or(|scope| caller.has_scope(scope))
    };
    capability.callable().filter(permits).collect()
}
