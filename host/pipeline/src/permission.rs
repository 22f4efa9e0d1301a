//! Permission: the claim and the scopes of a caller, then its rates.

use crate::{
    host::Host,
    rates::{CallerRates, RateLimitState},
};
use portolan_catalog::Capability;
use portolan_vocabulary::{Access, AgentCaller, Descriptor, ErrorCode, Failure, Role, Roles};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The run time for which a new look at a caller's standing counts, so that refused calls do not ask the database more
/// often than permitted ones.
const LOOK_TIME: Duration = Duration::from_millis(1);

impl Host {
    /// Gives a caller the standing of now, if a call of this body would be refused for the standing that the caller has:
    /// another node may have changed it since it was read.
    pub(super) async fn renew_if_refused(
        &self,
        caller: &mut AgentCaller,
        by_person: bool,
        (capability, body): (&Capability, &Map<String, Value>),
    ) {
        let Ok(action) = capability.action_of(body) else { return };
        let (name, access) = (action.descriptor.name.as_str(), action.descriptor.access);
        let permitted = ensure_permitted(caller, access, self.catalog.roles());
        let judged = permitted
            .and_then(|()| ensure_not_suspended(caller, &capability.descriptor, (name, access)));
        // The scopes are those of the token, which do not change.
        if judged.is_err_and(|failure| !failure.has_code(ErrorCode::InsufficientScope))
            && let Some(renewed) = self.renewed(caller, by_person).await
        {
            *caller = renewed;
        }
    }

    /// Gives a caller the approval policy of now, unless the agent is another person's meanwhile.
    pub(super) async fn renew_policy(&self, caller: &mut AgentCaller, by_person: bool) {
        if let Some(renewed) = self.renewed(caller, by_person).await
            && renewed.owner_id == caller.owner_id
        {
            caller.policy = renewed.policy;
        }
    }

    /// Returns a caller with the standing of now; `None` if the caller's run time is used up, or there is no standing.
    async fn renewed(&self, caller: &AgentCaller, by_person: bool) -> Option<AgentCaller> {
        let rates = self.rates.of(caller, by_person);
        rates.ensure_run_time().ok()?;
        rates.charge_run_time(LOOK_TIME);
        self.identity.renewed(caller).await
    }

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

/// Returns whether calls of a caller can be refused for its standing: nobody has claimed the agent, or its person is
/// suspended.
pub(super) const fn is_limited(caller: &AgentCaller) -> bool {
    caller.owner_id.is_none() || caller.suspension.is_some()
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
