//! Which calls wait for the decision of a person.
//!
//! The policy is part of the caller's standing, so a call of a person without one reads nothing more. A nested call is
//! refused where it is made; when the call around it fails, that one waits, and the person sees both.

use portolan_catalog::{Action, Capability, Snapshot};
use portolan_vocabulary::{
    Access, AgentCaller, ApprovalPolicy, CoveredCall, ErrorCode, Failure, Publisher, Role,
    Timestamp, WaitReason,
};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of nested calls that wait together with a call.
const COVERED: usize = 20;

/// The parts of a call that its person has to approve.
#[derive(Debug)]
pub(super) struct Approval {
    policy: Arc<ApprovalPolicy>,
    /// Why the call itself waits; `None` if it does not, or is approved.
    reason: Option<WaitReason>,
    /// The nested calls that are approved.
    covers: Vec<CoveredCall>,
    /// The id of the approval under which the call is made, if it is approved.
    id: Option<String>,
    attempt: Mutex<ApprovalAttempt>,
}

/// The nested calls that one run of the call has made.
#[derive(Debug, Default)]
struct ApprovalAttempt {
    /// The approved nested calls that it has not made yet: each is approved once.
    unused: Vec<CoveredCall>,
    /// The nested calls that it may not make without the person, with the reason of the first one.
    waiting: Vec<CoveredCall>,
    reason: Option<WaitReason>,
}

impl Approval {
    /// Returns what the person has to approve in a call by an agent; `None` if the person limits nothing. What the
    /// person does on a page of the host, and what the agent says to the capability of approvals, does not wait.
    pub(super) fn of(
        snapshot: &Snapshot,
        caller: &AgentCaller,
        (capability, action): (&Capability, &Action),
        input: &Value,
        is_exempt: bool,
        now: Timestamp,
    ) -> Option<Arc<Self>> {
        let policy = Arc::clone(caller.policy.as_ref()?);
        let asks =
            || snapshot.holder(Role::Approvals).is_ok_and(|holder| holder.id == capability.id);
        let waits = match action.descriptor.access {
            Access::Write => !is_exempt && !asks(),
            // Only the host's publisher is believed that such an action changes nothing for the person.
            Access::Events | Access::Open => !is_exempt && capability.publisher != Publisher::Host,
            Access::Read | Access::Internal => false,
        };
        let consequence = action.consequence.as_ref();
        let spent = (input, action.descriptor.cost_credits);
        let reason = waits.then(|| policy.reason(consequence, spent, now)).flatten();
        let (covers, attempt) = (Vec::new(), Mutex::default());
        Some(Arc::new(Self { policy, reason, covers, id: None, attempt }))
    }

    /// Returns the approval of a call that the person has approved with these nested calls; `None` if the person
    /// limits nothing any more.
    pub(super) fn given(
        caller: &AgentCaller,
        covers: Vec<CoveredCall>,
        id: &str,
    ) -> Option<Arc<Self>> {
        let policy = Arc::clone(caller.policy.as_ref()?);
        let (id, attempt) = (Some(id.to_owned()), Mutex::default());
        Some(Arc::new(Self { policy, reason: None, covers, id, attempt }))
    }

    /// Returns the id of the approval under which the call is made, if it is approved.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Begins a run of the call.
    pub(super) fn begin_attempt(&self) {
        let attempt = ApprovalAttempt { unused: self.covers.clone(), ..Default::default() };
        *self.attempt.lock().unwrap_or_else(PoisonError::into_inner) = attempt;
    }

    /// Returns why the call itself, or a nested call of its last run, waits.
    pub(super) fn reason(&self) -> Option<WaitReason> {
        let attempt = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
        self.reason.or(attempt.reason)
    }

    /// Returns whether the call waits before it is run.
    pub(super) const fn waits_itself(&self) -> bool {
        self.reason.is_some()
    }

    /// Ensures that a component may make a nested call without the person. What a publisher's components do among
    /// themselves is part of the call that the person sees. In a dry run, the call is made and remembered.
    pub(super) fn ensure_nested(
        &self,
        caller: &Capability,
        (capability, action): (&Capability, &Action),
        input: &str,
        (now, dry_run): (Timestamp, bool),
    ) -> Result<(), Failure> {
        let has_consequence = match action.descriptor.access {
            Access::Write => true,
            Access::Internal => action.consequence.is_some(),
            Access::Events | Access::Open => capability.publisher != Publisher::Host,
            Access::Read => false,
        };
        if !has_consequence || caller.same_publisher(capability) {
            return Ok(());
        }
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let spent = (&input, action.descriptor.cost_credits);
        let reason = self.policy.reason(action.consequence.as_ref(), spent, now);
        let Some(reason) = reason else { return Ok(()) };
        let call = CoveredCall {
            capability: capability.id.to_string(),
            action: action.descriptor.name.clone(),
            publisher: capability.publisher.to_string(),
            major: major(&capability.descriptor.version).to_owned(),
            input,
        };
        let mut attempt = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = attempt.unused.iter().position(|covered| *covered == call) {
            attempt.unused.swap_remove(place);
            return Ok(());
        }
        attempt.reason.get_or_insert(reason);
        if attempt.waiting.len() < COVERED {
            attempt.waiting.push(call);
        }
        if dry_run { Ok(()) } else { Err(Failure::new(ErrorCode::ApprovalRequired)) }
    }

    /// Returns the nested calls that the person sees with the call: those that are approved already, and those that
    /// its last run could not make.
    pub(super) fn covered(&self) -> Vec<CoveredCall> {
        let attempt = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
        self.covers.iter().chain(&attempt.waiting).take(COVERED).cloned().collect()
    }
}

/// Returns the major number of a version.
pub(super) fn major(version: &str) -> &str {
    version.split_once('.').map_or(version, |(major, _)| major)
}
