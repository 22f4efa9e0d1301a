//! Which calls wait for the decision of a person.
//!
//! The policy is part of the caller's standing, so a call of a person without one reads nothing more. A nested call is
//! refused where it is made; when the call around it fails, that one waits, and the person sees both. What a call and
//! its nested calls spend is added, so that many small amounts do not pass for one.

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
    /// How much the call itself spends without the person, in the currency of the policy's `most`.
    amount: f64,
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
    /// How much it has spent without the person, in the currency of the policy's `most`, with its own amount. What a
    /// nested call would spend counts also if that fails.
    spent: f64,
}

impl ApprovalAttempt {
    /// Adds an amount to what is spent, if the sum is within the most that agents spend alone, and returns whether it
    /// is.
    fn spend(&mut self, amount: f64, most: f64) -> bool {
        let sum = self.spent + amount;
        let is_within = sum <= most;
        if is_within {
            self.spent = sum;
        }
        is_within
    }
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
        let amount = waits.then(|| amount(&policy, action, input)).flatten().unwrap_or_default();
        let (covers, attempt) = (Vec::new(), Mutex::default());
        Some(Arc::new(Self { policy, reason, amount, covers, id: None, attempt }))
    }

    /// Returns the approval of a call that the person has approved with these nested calls; `None` if the person
    /// limits nothing any more. What the person has approved counts as nothing spent.
    pub(super) fn given(
        caller: &AgentCaller,
        covers: Vec<CoveredCall>,
        id: &str,
    ) -> Option<Arc<Self>> {
        let policy = Arc::clone(caller.policy.as_ref()?);
        let (id, attempt) = (Some(id.to_owned()), Mutex::default());
        Some(Arc::new(Self { policy, reason: None, amount: 0.0, covers, id, attempt }))
    }

    /// Returns the id of the approval under which the call is made, if it is approved.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Begins a run of the call.
    pub(super) fn begin_attempt(&self) {
        let (unused, spent) = (self.covers.clone(), self.amount);
        let attempt = ApprovalAttempt { unused, spent, ..Default::default() };
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
    /// themselves is part of the call that the person sees. What nested calls spend is added to what the call itself
    /// spends; an approved one adds nothing. In a dry run, the call is made and remembered.
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
        let call = CoveredCall {
            capability: capability.id.to_string(),
            action: action.descriptor.name.clone(),
            publisher: capability.publisher.to_string(),
            major: major(&capability.descriptor.version).to_owned(),
            input: serde_json::from_str(input).unwrap_or_default(),
        };
        let spent = (&call.input, action.descriptor.cost_credits);
        let reason = self.policy.reason(action.consequence.as_ref(), spent, now);
        let amount = amount(&self.policy, action, &call.input).unwrap_or_default();
        let mut attempt = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = attempt.unused.iter().position(|covered| *covered == call) {
            attempt.unused.swap_remove(place);
            return Ok(());
        }
        let reason = match (reason, &self.policy.most) {
            (Some(reason), _) => reason,
            (None, Some(most)) if !attempt.spend(amount, most.amount) => WaitReason::Amount,
            (None, _) => return Ok(()),
        };
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

/// Returns how much a call spends, in the currency of the policy's `most`; `None` if there is no `most`, or if the
/// amount is not known in that currency.
fn amount(policy: &ApprovalPolicy, action: &Action, input: &Value) -> Option<f64> {
    let (most, consequence) = (policy.most.as_ref()?, action.consequence.as_ref()?);
    consequence.amount_in(&most.currency, input, action.descriptor.cost_credits)
}

/// Returns the major number of a version.
pub(super) fn major(version: &str) -> &str {
    version.split_once('.').map_or(version, |(major, _)| major)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nested_calls_spend_is_added() {
        let mut attempt = ApprovalAttempt { spent: 1.0, ..Default::default() };
        assert!(attempt.spend(2.0, 5.0));
        assert!(!attempt.spend(3.0, 5.0), "it is more than what is left");
        assert!(attempt.spend(2.0, 5.0), "what was refused has not been added");
        assert!(attempt.spend(0.0, 5.0), "what costs nothing is within every limit");
        assert!(!attempt.spend(0.5, 5.0));
        assert!(!attempt.spend(f64::INFINITY, 5.0));
    }
}
