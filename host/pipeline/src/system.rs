//! Actions that the host runs itself, as the caller `system`.

use crate::{
    call::describe,
    execution::{ensure_input, find},
    host::Host,
    run::Run,
};
use portolan_sandbox::CallContext;
use portolan_store::Task;
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure, new_request_id};
use serde_json::Value;
use std::{sync::Arc, time::Instant};

/// A call that the host makes itself.
pub(super) struct SystemCall<'a> {
    pub(super) capability: &'a str,
    pub(super) action: &'a str,
    /// The access class that the action must have.
    pub(super) access: Access,
    /// The input as JSON.
    pub(super) input: &'a str,
    /// The system, or the agent in whose name a page of the host acts.
    pub(super) caller: Caller,
    /// The caller in the audit log, if there is one: the operator.
    pub(super) via: Option<String>,
    pub(super) task: Option<Task>,
    /// The place of the host's call in a trace.
    pub(super) trace: Option<TraceContext>,
    /// Whether the input has a secret, so that the call is not recorded.
    pub(super) has_secret: bool,
    /// Whether its writes are discarded.
    pub(super) dry_run: bool,
}

impl Host {
    /// Runs an action, which no agent calls itself, and returns its output.
    pub(super) async fn run_system_call(
        self: &Arc<Self>,
        call: SystemCall<'_>,
    ) -> Result<Value, Failure> {
        let now = self.clock.now();
        let snapshot = self.catalog.snapshot();
        let platform = Arc::clone(&snapshot.platform);
        let mut context = CallContext::new(call.caller, now, new_request_id(now), platform);
        context.via.extend(call.via);
        let (capability, action) =
            find(&snapshot, &context.caller, (call.capability, call.action), now)?;
        if action.descriptor.access != call.access {
            return Err(Failure::new(ErrorCode::UnknownAction));
        }
        ensure_input(action, call.input)?;
        let mut span = self.call_span(call.trace, &capability.id);
        context.trace = span.context_or(call.trace);
        let rates = context.agent().map(|agent| self.rates.of(agent, false));
        let session =
            (!call.has_secret).then(|| self.recordings.begin(&context.request_id)).flatten();
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(context.with_session(session)),
            input: call.input.to_owned(),
            dry_run: call.dry_run,
            keyed: None,
            task: call.task,
            rates,
            approval: None,
            started: Instant::now(),
        };
        let observation = self.begin_observation(&run.capability.id, None);
        let outcome = self.run(&run).await.outcome.map(|(result, _)| result);
        describe(&mut span, &run.action.descriptor.name, outcome.as_ref().err());
        self.end_observation(
            observation,
            Some(&run.action.descriptor.name),
            outcome.as_ref().err(),
        );
        outcome
    }
}
