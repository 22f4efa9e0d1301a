//! What an action knows about the call it runs for.

use crate::contract::{
    AgentCaller, Caller,
    context::{self, Level},
};

/// The running call: who it is for, and its only sources of time, chance and identity.
#[derive(Debug)]
pub struct Call {
    caller: Caller,
}

impl Call {
    pub fn new(caller: Caller) -> Self {
        Self { caller }
    }

    /// The agent, or none if the host itself calls (a timer, a subscription).
    pub fn agent(&self) -> Option<&AgentCaller> {
        match &self.caller {
            Caller::Agent(agent) => Some(agent),
            Caller::System => None,
        }
    }

    /// The person the agent acts for; always there in an action of access `write`.
    pub fn owner_id(&self) -> Option<&str> {
        self.agent()?.owner_id.as_deref()
    }

    /// The OAuth client that the agent's token was issued to.
    pub fn client_id(&self) -> Option<String> {
        context::client_id()
    }

    /// Whether this is a call of test mode, whoever calls.
    pub fn test_mode(&self) -> bool {
        context::test_mode()
    }

    /// Milliseconds since the Unix epoch, the same for the whole call.
    pub fn now(&self) -> u64 {
        context::now()
    }

    /// Unpredictable bytes, at most 4096.
    pub fn random(&self, length: u32) -> Vec<u8> {
        context::random(length)
    }

    /// A new sortable identifier, `prefix_` and a ULID.
    pub fn new_id(&self, prefix: &str) -> String {
        context::new_id(prefix)
    }

    /// A line for the operator.
    pub fn log(&self, message: &str) {
        context::log(Level::Info, message);
    }
}
