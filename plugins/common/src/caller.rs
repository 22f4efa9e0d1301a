//! Who calls.

use portolan_sdk::{contract::AgentCaller, prelude::*};

/// The calling agent; `not_permitted` for the host itself.
pub fn agent(call: &Call) -> Result<&AgentCaller, Refusal> {
    call.agent().ok_or_else(|| Refusal::common("not_permitted", "Only an agent may do this."))
}

/// The person behind the calling agent, whom every action of access `write` has;
/// `phone_binding_required` if nobody has claimed the agent.
pub fn owner_id(call: &Call) -> Result<&str, Refusal> {
    agent(call)?.owner_id.as_deref().ok_or_else(|| {
        let mut refusal = Refusal::common(
            "phone_binding_required",
            "A person must claim this identity with a one-time phone bind first.",
        );
        refusal.next = Some(Box::new(claim_first().then_retry()));
        refusal
    })
}

/// The way to a claim.
pub fn claim_first() -> Next {
    Next::call("svc.phone-binding")
        .field("action", "bind")
        .ask("phone", "Which mobile number may I send a code to?")
}
