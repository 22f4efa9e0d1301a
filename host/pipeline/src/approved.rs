//! The calls that a person has approved: each is made once, as it was validated, in the name of its agent.
//!
//! An approved call is a timer of the host, which is removed in the commit that tells its outcome to the capability
//! with the role `approvals`. After a crash in between, the call's idempotency key gives the stored answer again.

use crate::{
    approvals::{Approval, major},
    execution::{ensure_input, find},
    host::Host,
    idempotency::KeyedCall,
    outcome::Outcome,
    permission::{ensure_not_suspended, ensure_permitted},
    run::Run,
    system::SystemCall,
};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_sandbox::CallContext;
use portolan_store::{DueWork, IdempotencyKey};
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{
    Access, ApprovedCall, Caller, ErrorCode, ErrorKind, Failure, HeldCall, Timestamp,
    new_request_id, person_ids,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc, time::Instant};

/// The number of runs after which a failure that may pass is the outcome.
const MAX_RUNS: u32 = 4;
/// The maximum number of attempts to report the outcome to the capability. They take about 25 days, for which the
/// answer of the call is kept.
const MAX_TELLINGS: u32 = 600;
/// The maximum number of bytes of an output that is kept for the agent.
const OUTPUT_BYTES: usize = 48 << 10;

impl Host {
    /// Makes an approved call, and tells its outcome to the capability that has asked the person.
    pub(super) async fn run_approved(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
        trace: Option<TraceContext>,
    ) -> Result<(), Failure> {
        let approved: ApprovedCall = serde_json::from_str(&work.input)
            .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        let outcome = self.make(&approved, trace).await;
        if let Err(failure) = &outcome
            && may_pass(failure, work.attempts)
        {
            return Err(failure.clone());
        }
        let input = told(&approved.approval_id, &outcome);
        let call = SystemCall {
            capability,
            action: &work.action,
            access: Access::Internal,
            input: &input.to_string(),
            caller: Caller::System { test_mode: work.test_mode },
            via: None,
            task: Some(work.task.clone()),
            trace,
            has_secret: false,
            dry_run: false,
        };
        match self.run_system_call(call).await {
            Err(failure) if work.attempts + 1 < MAX_TELLINGS => Err(failure),
            Err(failure) => {
                let (action, code) = (&*work.action, &*failure.error_code);
                tracing::error!(
                    capability,
                    action,
                    code,
                    "the outcome of an approved call is lost"
                );
                self.remove(work).await
            }
            Ok(_) => Ok(()),
        }
    }

    /// Makes the call, if its agent still may and its capability still takes it.
    async fn make(
        self: &Arc<Self>,
        approved: &ApprovedCall,
        trace: Option<TraceContext>,
    ) -> Outcome {
        let ApprovedCall { approval_id, call } = approved;
        let (started, now) = (Instant::now(), self.clock.now());
        let agent = self.identity.caller_of_held(call).await?;
        let snapshot = self.catalog.snapshot();
        let name = (&*call.capability, &*call.action);
        let caller = Caller::Agent(agent.clone());
        let (capability, action) = find(&snapshot, &caller, name, now)?;
        ensure_unchanged(capability, action, call)?;
        ensure_covered_unchanged(&snapshot, &caller, call, now)?;
        let input = call.input.to_string();
        ensure_input(action, &input)?;
        let access = action.descriptor.access;
        ensure_permitted(&agent, access, self.catalog.roles())?;
        ensure_not_suspended(&agent, &capability.descriptor, (&action.descriptor.name, access))?;
        let keyed = self.begin_approved(approval_id, call)?;
        let approval = Approval::given(&agent, call.covers.clone(), approval_id);
        let platform = Arc::clone(&snapshot.platform);
        let mut context = CallContext::new(caller, now, new_request_id(now), platform);
        context.trace = trace;
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(context),
            input,
            dry_run: false,
            keyed: Some(&keyed),
            task: None,
            rates: Some(self.rates.of(&agent, false)),
            approval,
            started,
        };
        // Boxed, because the future of every piece of due work would otherwise have room for a whole call.
        Box::pin(self.run(&run)).await.outcome
    }

    /// Begins the call under the key that its agent has given, so that the agent's own call with this key gets the
    /// answer, or else under that of the approval.
    fn begin_approved(&self, approval_id: &str, call: &HeldCall) -> Result<KeyedCall, Failure> {
        let key = call.idempotency_key.clone();
        let key = IdempotencyKey {
            agent_id: call.agent_id.clone(),
            capability: call.capability.clone(),
            action: call.action.clone(),
            key: key.unwrap_or_else(|| format!("approval/{approval_id}")),
        };
        self.running.begin(key, &json!([call.owner_id, call.input])).map(KeyedCall::approved)
    }
}

/// Returns whether the call is made again after a failure. The agent's own call with the same key ends by itself.
fn may_pass(failure: &Failure, attempts: u32) -> bool {
    failure.has_code(ErrorCode::IdempotencyInProgress)
        || (matches!(failure.kind, ErrorKind::Unavailable | ErrorKind::OutOfTime)
            && attempts + 1 < MAX_RUNS)
}

/// Ensures that the capability is the one whose action the person has seen: of the same publisher, without a breaking
/// change since, and with the same access.
fn ensure_unchanged(
    capability: &Capability,
    action: &Action,
    call: &HeldCall,
) -> Result<(), Failure> {
    let is_same = is_unchanged(capability, &call.publisher, &call.version)
        && action.descriptor.access == call.access;
    if is_same { Ok(()) } else { Err(changed(capability, &call.version)) }
}

/// Ensures the same of the nested calls that the person has seen.
fn ensure_covered_unchanged(
    snapshot: &Snapshot,
    caller: &Caller,
    call: &HeldCall,
    now: Timestamp,
) -> Result<(), Failure> {
    for covered in &call.covers {
        let (capability, _) =
            find(snapshot, caller, (&*covered.capability, &*covered.action), now)?;
        if !is_unchanged(capability, &covered.publisher, &covered.major) {
            return Err(changed(capability, &covered.major));
        }
    }
    Ok(())
}

fn is_unchanged(capability: &Capability, publisher: &str, version: &str) -> bool {
    capability.publisher.to_string() == publisher
        && major(&capability.descriptor.version) == major(version)
}

fn changed(capability: &Capability, expected: &str) -> Failure {
    Failure::new(ErrorCode::VersionConflict)
        .message("The capability has changed since the call was made. Make the call again.")
        .conflict(json!({
            "kind": "version", "expected": expected,
            "current_version": capability.descriptor.version,
        }))
}

/// Returns the outcome as the capability gets it.
fn told(approval_id: &str, outcome: &Outcome) -> Value {
    let (output, failure) = match outcome {
        // The answer of a call that was made before may be lost.
        Ok((Value::Null, _)) => (None, None),
        Ok((output, _)) => (serde_json::to_string_pretty(output).ok(), None),
        Err(failure) => (None, Some(failure)),
    };
    let output = output.filter(|output| output.len() <= OUTPUT_BYTES);
    let people: BTreeSet<&str> = output.iter().flat_map(|output| person_ids(output)).collect();
    let conflict = failure.and_then(|failure| failure.conflict.as_deref());
    let is_waiting = failure.is_some_and(|failure| failure.has_code(ErrorCode::ApprovalRequired));
    let waiting = conflict.filter(|_| is_waiting).and_then(|conflict| conflict.get("approval_id"));
    json!({
        "approval_id": approval_id,
        "state": if failure.is_none() { "done" } else { "failed" },
        "code": failure.map(|failure| &failure.error_code),
        "message": failure.map(|failure| &failure.message),
        "people": people,
        "output": output,
        "waiting": waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_whose_key_is_in_use_is_made_later() {
        let in_use = Failure::new(ErrorCode::IdempotencyInProgress);
        let unavailable = Failure::new(ErrorCode::DependencyUnavailable);
        let refused = Failure::new(ErrorCode::NotPermitted);
        assert!(may_pass(&in_use, 0) && may_pass(&in_use, 10 * MAX_RUNS));
        assert!(may_pass(&unavailable, 0) && !may_pass(&unavailable, MAX_RUNS));
        assert!(!may_pass(&refused, 0));
    }

    #[test]
    fn an_outcome_is_told_with_its_code_and_what_waits_in_turn() {
        let done = told("apr_1", &Ok((json!({ "n": 1 }), None)));
        assert_eq!((&done["state"], &done["output"]), (&json!("done"), &json!("{\n  \"n\": 1\n}")));
        let failure =
            Failure::new(ErrorCode::ApprovalRequired).conflict(json!({ "approval_id": "apr_2" }));
        let waits = told("apr_1", &Err(failure));
        assert_eq!(waits["code"], "approval_required");
        assert_eq!((&waits["state"], &waits["waiting"]), (&json!("failed"), &json!("apr_2")));
        let large = told("apr_1", &Ok((json!("x".repeat(OUTPUT_BYTES)), None)));
        assert_eq!((&large["state"], &large["output"]), (&json!("done"), &Value::Null));
        let lost = told("apr_1", &Ok((Value::Null, None)));
        assert_eq!((&lost["state"], &lost["output"]), (&json!("done"), &Value::Null));
    }
}
