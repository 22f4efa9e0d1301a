//! The host services of a running component: nested calls in its unit of work, and checks of its events
//! and timers against its declaration.

use crate::{
    answer::NestedRefusal,
    approvals::Approval,
    call::describe,
    execution::{Executed, Execution, ensure_input, find},
    host::Host,
    outcome::Outcome,
    permission::{ensure_not_suspended, ensure_permitted},
};
use portolan_blobs::Blobs;
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_events::Events;
use portolan_publication::Publication;
use portolan_sandbox::{
    CallContext, GuestAnswer, HostServices, MessageRefusal, MessageRequest, NestedCall,
    NestedCallFuture, People, SandboxUse, StateFuture, Work,
};
use portolan_store::{CollectionId, Unit};
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure, Invocation, plain_json};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// The greatest depth of nested calls.
const MAX_DEPTH: usize = 8;

/// The maximum number of nested calls of one call, at all depths together.
const MAX_CALLS: usize = 1_000;

/// A running action, with the services that it may use.
#[derive(Debug)]
pub(super) struct Frame {
    host: Arc<Host>,
    snapshot: Arc<Snapshot>,
    capability: Arc<Capability>,
    /// The place of the action among those of the capability.
    action: Option<usize>,
    /// Whether the writes of the call are discarded.
    dry_run: bool,
    /// The part of the call that the caller's person has to approve, if they limit anything.
    approval: Option<Arc<Approval>>,
    /// The action's place in a trace.
    trace: Option<TraceContext>,
    /// The refusals of nested calls, which the action may return as its own.
    nested_refusals: Mutex<Vec<NestedRefusal>>,
}

impl Frame {
    pub(super) fn new(
        host: Arc<Host>,
        (snapshot, capability): (Arc<Snapshot>, Arc<Capability>),
        action: &Action,
        (dry_run, approval): (bool, Option<Arc<Approval>>),
        trace: Option<TraceContext>,
    ) -> Arc<Self> {
        let is_own = |own: &Action| own.descriptor.name == action.descriptor.name;
        let action = capability.actions.iter().position(is_own);
        let nested_refusals = Mutex::default();
        Arc::new(Self {
            host,
            snapshot,
            capability,
            action,
            dry_run,
            approval,
            trace,
            nested_refusals,
        })
    }

    pub(super) fn nested_refusals(&self) -> Vec<NestedRefusal> {
        self.nested_refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ensures that the running action may call the action of `execution` with its input.
    fn ensure_callable(&self, execution: Execution<'_>, read_only: bool) -> Result<(), Failure> {
        let Execution { capability, action, context, input, dry_run, .. } = execution;
        self.snapshot.ensure_reachable(&self.capability, capability, action)?;
        if let Caller::Agent(agent) = &context.caller {
            let access = action.descriptor.access;
            ensure_permitted(agent, access, self.host.catalog.roles())?;
            ensure_not_suspended(agent, &capability.descriptor, (&action.descriptor.name, access))?;
        }
        // A timer or a delivery has no person who could approve what the component of another publisher does in it.
        let is_for_somebody =
            action.descriptor.access == Access::Internal && action.consequence.is_some();
        if matches!(context.caller, Caller::System { .. })
            && is_for_somebody
            && !self.capability.same_publisher(capability)
        {
            return Err(not_permitted(
                "A timer or a delivery cannot call an internal action of another publisher that acts for a person.",
            ));
        }
        if read_only && action.descriptor.access == Access::Write {
            return Err(not_permitted(
                "An action of access read cannot call an action of access write.",
            ));
        }
        if dry_run {
            action.ensure_dry_run()?;
        }
        action.ensure_by(false)?;
        ensure_input(action, input)?;
        match &self.approval {
            Some(approval) => approval.ensure_nested(
                &self.capability,
                (&**capability, action),
                input,
                (context.now, dry_run),
            ),
            None => Ok(()),
        }
    }

    async fn run(self: Arc<Self>, nested: NestedCall) -> (GuestAnswer, Option<Work>) {
        let NestedCall { mut work, context, capability, action, input } = nested;
        if work.unit.count_nested_call() > MAX_CALLS {
            let failure = not_permitted("A call can make at most 1000 nested calls.");
            return (self.fail(failure, false), Some(work));
        }
        let callee = ensure_nestable(&context.via, &capability).and_then(|()| {
            find(&self.snapshot, &context.caller, (&*capability, &*action), context.now)
        });
        let (capability, action) = match callee {
            Ok(callee) => callee,
            Err(failure) => {
                self.log_absent(&context.request_id, (&*capability, &*action), &failure);
                return (self.fail(failure, false), Some(work));
            }
        };
        let started = Instant::now();
        let Work { mut unit, collections, read_only, services } = work;
        let mut span = self.host.call_span(self.trace, &capability.id);
        let context = Arc::new(context.with_trace(span.context_or(self.trace)));
        let execution = Execution {
            snapshot: &self.snapshot,
            capability,
            action,
            context: &context,
            input: &input,
            dry_run: self.dry_run,
            approval: self.approval.as_ref(),
        };
        if let Err(failure) = self.ensure_callable(execution, read_only) {
            let outcome = Err(failure);
            if self.is_audited(execution) {
                unit.record_nested_call(execution.audit(&outcome, started), true);
            }
            let work = Work { unit, collections, read_only, services };
            return (self.guest_answer(outcome, false), Some(work));
        }
        unit.savepoint();
        let Executed { outcome, keep_writes, unit } =
            self.host.execute(execution, unit, read_only).await;
        self.host.count_for_release(execution, outcome.as_ref().err(), started.elapsed());
        describe(&mut span, &action.descriptor.name, outcome.as_ref().err());
        let Some(mut unit) = unit else {
            return (self.fail(Failure::new(ErrorCode::CapabilityTimeout), false), None);
        };
        if action.descriptor.access != Access::Read && self.is_audited(execution) {
            unit.record_nested_call(execution.audit(&outcome, started), keep_writes);
        }
        match (&outcome, keep_writes) {
            (Ok(_), _) => unit.release(),
            (Err(_), true) => unit.release_and_keep(),
            (Err(_), false) => unit.rollback(),
        }
        let work = Work { unit, collections, read_only, services };
        (self.guest_answer(outcome, keep_writes), Some(work))
    }

    /// Logs that the callee of a nested call is absent, for the author and the operator.
    fn log_absent(&self, request: &str, (id, name): (&str, &str), failure: &Failure) {
        let fix = match ErrorCode::from_name(&failure.error_code) {
            Some(ErrorCode::UnknownCapability) => {
                "this host does not serve that capability; put it into the catalog folder (with `portolan dev`: --with FOLDER)"
            }
            Some(ErrorCode::UnknownAction) => {
                "that capability has no such action; correct its name, or install the version that has it"
            }
            _ => return,
        };
        let text = format!("calls {id}.{name}: {fix}");
        let (capability, action) = (&*self.capability.id, self.action_name());
        if self.host.admit_log_message(capability, text.len()) {
            tracing::warn!(capability, action, request, "{text}");
        }
    }

    /// Ensures that the running capability declares a nested call, which is neither in a cycle nor nested
    /// too deeply. The callee need not exist.
    pub(super) fn ensure_declared(
        &self,
        via: &[String],
        callee: &Invocation,
    ) -> Result<(), Failure> {
        ensure_nestable(via, &callee.capability)?;
        self.capability.ensure_declared(callee)
    }

    fn not_internal(&self, action: &str) -> String {
        let actions = self.capability.descriptor.actions.iter();
        let internal = actions.filter(|action| action.access == Access::Internal);
        let names: Vec<_> = internal.map(|action| action.name.as_str()).collect();
        match names.is_empty() {
            true => format!("{action} is not an internal action; declare one with access internal"),
            false => format!("{action} is not an internal action; these are: {}", names.join(", ")),
        }
    }

    /// Returns whether a nested call gets a row in the audit log: in the runs of timers and deliveries, only some
    /// do.
    fn is_audited(&self, execution: Execution<'_>) -> bool {
        let (id, action) = (&execution.capability.id, &execution.action.descriptor.name);
        let is_due = matches!(execution.context.caller, Caller::System { .. });
        !is_due || self.host.audit_limits.admit(id, action, execution.context.now)
    }

    /// Returns the outcome in the form for the calling component.
    pub(super) fn guest_answer(&self, outcome: Outcome, keep_writes: bool) -> GuestAnswer {
        match outcome {
            Ok((output, next)) => {
                let next = next.map(|next| next.to_string());
                GuestAnswer::Success { output: output.to_string(), next }
            }
            Err(failure) => self.fail(failure, keep_writes),
        }
    }

    /// Returns a failure in the form for the calling component, and records it, so that the component may
    /// return it.
    fn fail(&self, failure: Failure, keep_writes: bool) -> GuestAnswer {
        let text = |value: Option<Box<Value>>| value.map(|value| value.to_string());
        let mut nested_refusals =
            self.nested_refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if !nested_refusals.iter().any(|recorded| recorded.code == failure.error_code) {
            nested_refusals.push(NestedRefusal {
                code: failure.error_code.clone(),
                kind: failure.kind,
                retryable: failure.retryable,
            });
        }
        drop(nested_refusals);
        GuestAnswer::Refused {
            code: failure.error_code.into_owned(),
            message: failure.message.into_owned(),
            conflict: text(failure.conflict),
            next: text(failure.next),
            keep_writes,
        }
    }

    fn running_action(&self) -> Option<&Action> {
        self.capability.actions.get(self.action?)
    }

    fn action_name(&self) -> &str {
        self.running_action().map_or("", |action| &action.descriptor.name)
    }
}

fn not_permitted(message: &'static str) -> Failure {
    Failure::new(ErrorCode::NotPermitted).message(message)
}

/// Refuses cycles and calls that are nested too deeply.
fn ensure_nestable(via: &[String], capability: &str) -> Result<(), Failure> {
    if via.iter().any(|outer| outer == capability) {
        return Err(not_permitted("Capabilities cannot call each other in a cycle."));
    }
    if via.len() >= MAX_DEPTH {
        return Err(not_permitted("Too many nested calls."));
    }
    Ok(())
}

impl HostServices for Frame {
    fn check_event(&self, event_type: &str) -> Result<(), String> {
        let mut emits =
            self.running_action().into_iter().flat_map(|action| &action.descriptor.emits);
        match emits.any(|declared| declared == event_type) {
            true => Ok(()),
            false => Err(format!(
                "the action {} does not declare that it emits {event_type}",
                self.action_name()
            )),
        }
    }

    fn subscribers(&self, event_type: &str) -> Vec<(String, String)> {
        self.host.catalog.subscribers(&self.snapshot, Some(&self.capability), event_type)
    }

    fn check_timer(&self, action: &str, input: String) -> Result<String, String> {
        let internal = self
            .capability
            .action(action)
            .filter(|action| action.descriptor.access == Access::Internal)
            .ok_or_else(|| self.not_internal(action))?;
        let value = serde_json::from_str(&input).map_err(|_| "the input is not JSON".to_owned())?;
        match internal.schemas.input.violations(&value) {
            None => Ok(plain_json(input, &value)),
            Some(conflict) => Err(format!(
                "the input does not satisfy the schema of {action}: {}",
                json!(conflict)
            )),
        }
    }

    fn people(&self) -> Option<&dyn People> {
        Some(&self.host.identity)
    }

    fn events(&self) -> Option<Arc<Events>> {
        Some(Arc::clone(&self.host.events))
    }

    fn blobs(&self) -> Option<Arc<Blobs>> {
        Some(Arc::clone(&self.host.blobs))
    }

    fn publication(&self) -> Option<Arc<Publication>> {
        self.host.feeds.current()
    }

    fn admit_text_message<'a>(
        &'a self,
        unit: &'a mut Unit,
        request: MessageRequest<'a>,
    ) -> StateFuture<'a, Result<(), MessageRefusal>> {
        Box::pin(self.host.admit_text_message(unit, request))
    }

    fn report_unreadable(
        &self,
        collection: CollectionId,
        id: String,
        revision: u64,
        reason: String,
    ) {
        let host = &self.host;
        let recorded = (host.store.clone(), host.clock.now());
        host.unreadable.report(recorded, &self.capability.id, (collection, id, revision), reason);
    }

    fn count_sandbox(&self, context: &CallContext, used: SandboxUse) {
        let capability = &self.capability;
        let make = || self.host.meters.of_sandboxes(&capability.id);
        if let Some(meters) = capability.companion.get_or_init(make) {
            meters.count(used.time, used.memory);
        }
        if let Some(agent) = context.agent() {
            self.host.rates.charge_computing(agent, used.computed);
        }
    }

    fn admit_log_message(&self, bytes: usize) -> bool {
        self.host.admit_log_message(&self.capability.id, bytes)
    }

    fn call(self: Arc<Self>, nested: NestedCall) -> NestedCallFuture {
        Box::pin(self.run(nested))
    }
}
