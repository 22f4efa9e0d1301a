//! The input and the outcome of one run of an action.

use crate::{approvals::Approval, outcome::Outcome};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_sandbox::{CallContext, Ending, RecordedCaller, RecordedRun};
use portolan_store::{AuditRecord, Unit};
use portolan_vocabulary::{Caller, ErrorCode, Failure, Timestamp, to_hex};
use serde_json::Value;
use std::{sync::Arc, time::Instant};

/// The action of a run, with its context and input.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) capability: &'a Arc<Capability>,
    pub(super) action: &'a Action,
    pub(super) context: &'a Arc<CallContext>,
    /// JSON that satisfies the action's input schema.
    pub(super) input: &'a str,
    /// Whether the writes of the call are discarded.
    pub(super) dry_run: bool,
    /// The part that the caller's person has to approve, if they limit anything.
    pub(super) approval: Option<&'a Arc<Approval>>,
}

/// The outcome of a run.
pub(super) struct Executed {
    pub(super) outcome: Outcome,
    /// Whether the writes of a refused run are kept, for example a count of failed attempts.
    pub(super) keep_writes: bool,
    /// `None` if a nested call timed out, because the unit of work is dropped with its sandbox.
    pub(super) unit: Option<Unit>,
}

/// Returns an action of the snapshot, of the version that runs a caller's calls; a failure if the capability or the action is unknown, or the
/// capability does not answer at `now`.
pub(super) fn find<'a>(
    snapshot: &'a Snapshot,
    caller: &Caller,
    (capability, action): (&str, &str),
    now: Timestamp,
) -> Result<(&'a Arc<Capability>, &'a Action), Failure> {
    let capability = snapshot.version_for(snapshot.find(capability, now)?, caller.agent());
    let action = capability.action(action).ok_or_else(|| Failure::new(ErrorCode::UnknownAction))?;
    Ok((capability, action))
}

/// Ensures that a text is JSON that satisfies the action's input schema.
pub(super) fn ensure_input(action: &Action, input: &str) -> Result<(), Failure> {
    let input: Value = serde_json::from_str(input)
        .map_err(|_| Failure::new(ErrorCode::MalformedJson).message("The input is not JSON."))?;
    match action.schemas.input.violations(&input) {
        None => Ok(()),
        Some(conflict) => Err(Failure::new(ErrorCode::ValidationFailed).conflict(conflict)),
    }
}

impl Execution<'_> {
    /// Returns what decides the outcome of a run, with its outcome, without what it asked the host.
    pub(super) fn recorded(
        &self,
        read_only: bool,
        (ending, code): (Ending, Option<String>),
    ) -> RecordedRun {
        RecordedRun {
            capability: self.capability.id.to_string(),
            version: self.capability.descriptor.version.clone(),
            digest: self.capability.digest.to_string(),
            action: self.action.descriptor.name.clone(),
            caller: RecordedCaller::from(&self.context.caller),
            via: self.context.via.clone(),
            request_id: self.context.request_id.to_string(),
            at: self.context.now.as_millis(),
            seed: to_hex(&self.context.seed()),
            input: self.input.to_owned(),
            read_only,
            imports: Vec::new(),
            ending,
            code,
        }
    }

    /// Returns the row of the audit log for a run with this outcome.
    pub(super) fn audit(&self, outcome: &Outcome, started: Instant) -> AuditRecord {
        let agent = self.context.agent();
        let code = outcome.as_ref().err().map(|failure| failure.error_code.clone());
        AuditRecord {
            at: self.context.now,
            request_id: self.context.request_id.to_string(),
            agent_id: agent.map(|agent| agent.agent_id.to_string()),
            owner_id: agent.and_then(|agent| agent.owner_id.as_deref()).map(str::to_owned),
            client_id: None,
            address: None,
            via: self.context.via.clone(),
            capability: self.capability.id.to_string(),
            version: self.capability.descriptor.version.clone(),
            digest: self.capability.digest.hex(),
            action: self.action.descriptor.name.clone(),
            outcome: code.map_or_else(|| "ok".to_owned(), |code| code.into_owned()),
            duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            count: 1,
        }
    }
}
