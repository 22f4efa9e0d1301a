//! The running call: its caller, time, randomness and identifiers.

use crate::answer::{Next, Refusal};
use crate::contract::{
    AgentCaller, Caller,
    context::{self, Level},
};
use portolan_codes::ErrorCode;

/// The running call: its caller, and its only sources of time, randomness and identifiers.
#[derive(Debug)]
pub struct Call {
    caller: Caller,
}

impl Call {
    pub fn new(caller: Caller) -> Self {
        Self { caller }
    }

    /// Returns the calling agent; `None` if the host itself calls (a timer, a subscription).
    pub fn agent(&self) -> Option<&AgentCaller> {
        match &self.caller {
            Caller::Agent(agent) => Some(agent),
            Caller::System => None,
        }
    }

    /// Returns the id of the calling agent's owner; `None` if nobody has claimed the agent or the
    /// host itself calls. Never `None` in an action of access `write`.
    pub fn owner_id(&self) -> Option<&str> {
        self.agent()?.owner_id.as_deref()
    }

    /// Returns the calling agent; `not_permitted` if the host itself calls.
    pub fn require_agent(&self) -> Result<&AgentCaller, Refusal> {
        self.agent()
            .ok_or_else(|| Refusal::common(ErrorCode::NotPermitted, "Only an agent may do this."))
    }

    /// Returns the id of the calling agent's owner. Refuses with `phone_binding_required` if nobody
    /// has claimed the agent, which does not occur in an action of access `write`, and with
    /// `not_permitted` if the host itself calls.
    pub fn require_owner(&self) -> Result<&str, Refusal> {
        self.require_agent()?.owner_id.as_deref().ok_or_else(|| {
            let message = "A person must claim this identity with a one-time phone bind first.";
            Refusal::common(ErrorCode::PhoneBindingRequired, message)
                .next(Next::claim().then_retry())
        })
    }

    /// Returns the OAuth client that the agent's token was issued to; `None` if the host itself
    /// calls.
    pub fn client_id(&self) -> Option<String> {
        context::client_id()
    }

    /// Returns whether the call runs in test mode, whose data is separate from that of live mode. Also
    /// known if the host itself calls.
    pub fn test_mode(&self) -> bool {
        context::test_mode()
    }

    /// Returns the time in milliseconds since the Unix epoch, which is the same for the whole call.
    pub fn now(&self) -> u64 {
        context::now()
    }

    /// Returns unpredictable bytes. A request for more than 4096 traps the call.
    pub fn random(&self, length: u32) -> Vec<u8> {
        context::random(length)
    }

    /// Returns random numbers, each at least 0 and less than 1. A request for more than 512 traps
    /// the call.
    pub fn random_numbers(&self, count: u32) -> Vec<f64> {
        let bytes = self.random(8 * count);
        let numbers = bytes.chunks_exact(8).map(|bytes| {
            let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            // An `f64` has 53 bits of precision.
            (bits >> 11) as f64 / (1_u64 << 53) as f64
        });
        numbers.collect()
    }

    /// Returns a new sortable identifier, `prefix_` and a ULID.
    pub fn new_id(&self, prefix: &str) -> String {
        context::new_id(prefix)
    }

    /// Writes a message to the operator's log. The macros of [`log`](crate::log) format a message.
    pub fn log(&self, level: Level, message: &str) {
        context::log(level, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_an_owner_is_shown_the_way_to_a_claim() {
        let agent = |owner_id: Option<&str>| {
            Call::new(Caller::Agent(AgentCaller {
                agent_id: "agt_1".into(),
                owner_id: owner_id.map(Into::into),
                agent_name: None,
                scopes: Vec::new(),
                via: Vec::new(),
                test_mode: false,
            }))
        };
        assert_eq!(agent(Some("own_1")).require_owner().unwrap(), "own_1");
        let refusal = agent(None).require_owner().unwrap_err();
        assert_eq!(refusal.code, "phone_binding_required");
        let next = crate::to_value(&refusal.next);
        assert_eq!(next["then"], "retry_original");
        let code = Call::new(Caller::System).require_owner().unwrap_err().code;
        assert_eq!(code, "not_permitted");
    }
}
