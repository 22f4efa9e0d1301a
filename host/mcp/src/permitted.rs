//! The actions that a caller's scopes permit.

use portolan_vocabulary::{ActionDescriptor, AgentCaller};

/// Returns whether the caller's scopes permit an action.
pub(super) fn permits(caller: &AgentCaller, action: &ActionDescriptor) -> bool {
    action.access.scope().is_none_or(|scope| caller.has_scope(scope))
}
