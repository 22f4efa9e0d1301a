//! The caller as a component gets it, borrowed from the context of the call. The generated type would be a copy of each
//! of its texts, for every call.

use crate::context::CallContext;
use portolan_vocabulary::Caller;
use wasmtime::component::{ComponentType, Lower};

/// The variant `caller` of the contract.
#[derive(ComponentType, Lower)]
#[component(variant)]
pub(super) enum CallerArgument<'a> {
    #[component(name = "agent")]
    Agent(AgentArgument<'a>),
    #[component(name = "system")]
    System,
}

/// The record `agent-caller` of the contract.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct AgentArgument<'a> {
    #[component(name = "agent-id")]
    agent_id: &'a str,
    #[component(name = "owner-id")]
    owner_id: Option<&'a str>,
    #[component(name = "agent-name")]
    agent_name: Option<&'a str>,
    #[component(name = "scopes")]
    scopes: &'a [String],
    #[component(name = "via")]
    via: &'a [String],
    #[component(name = "test-mode")]
    test_mode: bool,
}

impl<'a> CallerArgument<'a> {
    /// Returns the caller of a call.
    pub(super) fn of(context: &'a CallContext) -> Self {
        match &context.caller {
            Caller::System { .. } => Self::System,
            Caller::Agent(agent) => Self::Agent(AgentArgument {
                agent_id: &agent.agent_id,
                owner_id: agent.owner_id.as_deref(),
                agent_name: agent.agent_name.as_deref(),
                scopes: &agent.scopes,
                via: &context.via,
                test_mode: agent.test_mode,
            }),
        }
    }
}
