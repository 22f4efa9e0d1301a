//! Permission: the claim and the scopes of a caller, then its rates.

use crate::{
    host::Host,
    rates::{CallerRates, RateLimitState},
};
use portolan_vocabulary::{Access, AgentCaller, Descriptor, ErrorCode, Failure, Role, Roles};
use serde_json::json;

impl Host {
    /// Ensures that a caller is permitted, then counts the call against its rates. Returns what is
    /// left of them.
    pub fn permit(
        &self,
        caller: &AgentCaller,
        access: Access,
    ) -> Result<Vec<RateLimitState>, Failure> {
        self.permit_call((caller, &self.rates.of(caller, false)), access)
    }

    /// Does the same for a caller whose rates are known.
    pub(super) fn permit_call(
        &self,
        (caller, rates): (&AgentCaller, &CallerRates<'_>),
        access: Access,
    ) -> Result<Vec<RateLimitState>, Failure> {
        ensure_permitted(caller, access, self.catalog.roles())?;
        rates.count_call(access)
    }
}

/// Ensures that the owner of a caller is not suspended, if an action of this access writes for them and is
/// not one that suspended people may call.
pub(super) fn ensure_not_suspended(
    caller: &AgentCaller,
    descriptor: &Descriptor,
    (action, access): (&str, Access),
) -> Result<(), Failure> {
    let Some(suspension) = &caller.suspension else { return Ok(()) };
    if access != Access::Write || descriptor.permits_while_suspended(action) {
        return Ok(());
    }
    let until = suspension.until.map(|until| until.to_string());
    let failure = Failure::new(ErrorCode::IdentitySuspended).conflict(json!({
        "kind": "identity", "current": "suspended", "reason": suspension.reason, "until": until,
    }));
    Err(match &suspension.appeal {
        Some(appeal) => failure.next(appeal.clone()),
        None => failure,
    })
}

/// Ensures that a caller's claim and scopes allow an access class. The claim is checked before the
/// scope, so that any write of an unclaimed agent is answered with the next step that claims the agent.
pub fn ensure_permitted(
    caller: &AgentCaller,
    access: Access,
    roles: &Roles,
) -> Result<(), Failure> {
    if access.requires_claim() && caller.owner_id.is_none() {
        let failure = Failure::new(ErrorCode::PhoneBindingRequired)
            .conflict(json!({ "kind": "identity", "current": "anonymous", "required": "claimed" }));
        return Err(match roles.assigned(Role::PhoneVerification) {
            Some(capability) => failure.next(json!({
                "capability": capability,
                "input": { "action": "bind" },
                "missing": ["phone"],
                "ask_user": "Which mobile number may I send a code to?",
                "then": "retry_original",
            })),
            None => failure,
        });
    }
    match access.scope() {
        Some(scope) if !caller.has_scope(scope) => Err(Failure::new(ErrorCode::InsufficientScope)
            .conflict(json!({ "kind": "scope", "required": [scope], "held": &*caller.scopes }))
            .next(json!({ "http": { "method": "POST", "url": "/oauth/token" }, "scope": scope }))),
        _ => Ok(()),
    }
}
