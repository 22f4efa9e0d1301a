//! A call by an agent, from its permission to its answer.

use crate::{
    approvals::Approval,
    host::Host,
    idempotency::KeyedCall,
    next_step::remove_repetition,
    outcome::{Answer, Meta},
    permission::{ensure_not_suspended, is_limited},
    rates::{CallerRates, RateLimitState},
    run::{Run, RunOutcome},
};
use portolan_catalog::{Action, Capability, Input};
use portolan_sandbox::CallContext;
use portolan_store::IdempotencyKey;
use portolan_telemetry::{Span, SpanKind, TraceContext};
use portolan_vocabulary::{AgentCaller, Caller, ErrorCode, Failure};
use serde_json::{Map, Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A call by an agent, as HTTP or MCP received it.
#[derive(Debug)]
pub struct Call<'a> {
    pub caller: AgentCaller,
    pub capability: &'a str,
    /// The body, or the failure to read it. An unknown capability is reported before that failure.
    pub body: Result<Map<String, Value>, Failure>,
    /// The key of the header. A key in the body must be the same.
    pub idempotency_key: Option<String>,
    pub request_id: Arc<str>,
    /// Whether a person makes the call, on a page of this host. It is counted for the person on that page, and does
    /// not wait for the calls of their agents.
    pub by_person: bool,
    /// The call's place in a trace; `None` if it belongs to no trace.
    pub trace: Option<TraceContext>,
}

/// The time from which the check of an input counts as run time.
const CHARGED_CHECK_TIME: Duration = Duration::from_millis(1);
/// The number of bytes of a body whose reading counts as a millisecond of run time. Smaller bodies are free.
const BODY_BYTES_PER_MS: usize = 16 << 10;

/// The body and the idempotency key of a call, before its action is selected.
pub(super) struct CallBody {
    pub(super) body: Result<Map<String, Value>, Failure>,
    pub(super) idempotency_key: Option<String>,
    pub(super) by_person: bool,
    pub(super) trace: Option<TraceContext>,
}

/// The outcome of a call, and what is left of the caller's rates.
#[derive(Debug)]
pub struct CallOutcome {
    pub outcome: Result<Answer, Failure>,
    pub rate_limits: Vec<RateLimitState>,
}

impl Host {
    /// Runs one call from its permission to its answer.
    pub async fn call(self: &Arc<Self>, call: Call<'_>) -> CallOutcome {
        let mut rate_limits = Vec::new();
        let body = call.body.as_ref().ok();
        let observation =
            self.begin_observation(call.capability, body.map(|body| (&call.caller, body)));
        let outcome = self.answer(call, &mut rate_limits).await;
        self.end_observation(
            observation,
            outcome.as_ref().ok().map(Answer::action),
            outcome.as_ref().err(),
        );
        if let Err(failure) = &outcome {
            self.meters.count_refusal(&failure.error_code);
            self.recent_calls.count_refusal(&failure.error_code, self.clock.now());
        }
        CallOutcome { outcome, rate_limits }
    }

    async fn answer(
        self: &Arc<Self>,
        call: Call<'_>,
        rate_limits: &mut Vec<RateLimitState>,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        let now = self.clock.now();
        let snapshot = self.catalog.snapshot();
        let (body, idempotency_key, by_person) = (call.body, call.idempotency_key, call.by_person);
        let call_body = CallBody { body, idempotency_key, by_person, trace: None };
        let serving = snapshot.find(call.capability, now)?;
        let mut caller = call.caller;
        if is_limited(&caller)
            && let Ok(body) = &call_body.body
        {
            // Boxed, because few calls get here, and the future of each would have room for it.
            let judged = (&**snapshot.version_for(serving, Some(&caller)), body);
            Box::pin(self.renew_if_refused(&mut caller, by_person, judged)).await;
        }
        let capability = snapshot.version_for(serving, Some(&caller));
        let mut span = self.call_span(call.trace, &capability.id);
        let trace = span.context_or(call.trace);
        let call_body = CallBody { trace, ..call_body };
        let mut failed = |failure| fail(&mut span, failure);
        let rates = self.rates.of(&caller, by_person);
        let admitted = self.admit(capability, (&caller, &rates), call_body, rate_limits).await;
        let (action, input) = admitted.map_err(&mut failed)?;
        let keyed = self.begin_keyed(&caller, capability, action, &input).map_err(&mut failed)?;
        let _permits = rates.acquire_call().await.map_err(&mut failed)?;
        let test_mode = caller.test_mode;
        let called = (&**capability, action);
        let mut approval = Approval::of(&snapshot, &caller, called, &input.fields, by_person, now);
        if approval.as_ref().is_some_and(|approval| approval.waits_itself()) {
            Box::pin(self.renew_policy(&mut caller, by_person)).await;
            approval = Approval::of(&snapshot, &caller, called, &input.fields, by_person, now);
        }
        let (caller, platform) = (Caller::Agent(caller), Arc::clone(&snapshot.platform));
        let context = CallContext::new(caller, now, Arc::clone(&call.request_id), platform);
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(
                context
                    .with_trace(trace)
                    .made_by_person(by_person)
                    .with_session(self.recordings.begin(&call.request_id)),
            ),
            input: input.fields.to_string(),
            dry_run: input.dry_run,
            keyed: keyed.as_ref(),
            task: None,
            rates: Some(rates),
            approval,
            started,
        };
        let RunOutcome { mut outcome, replayed, emitted } = self.run(&run).await;
        describe(&mut span, &action.descriptor.name, outcome.as_ref().err());
        remove_repetition(&mut outcome, capability, action, &input);
        let (result, next) =
            outcome.map_err(|failure| capability.complete_validation(action, failure))?;
        let meta = Meta {
            capability: Arc::clone(&capability.id),
            action: action.descriptor.name.clone(),
            version: capability.descriptor.version.clone(),
            request_id: call.request_id,
            replayed,
            test_mode,
            cost_credits: action.descriptor.cost_credits,
            dry_run: input.dry_run,
            would_emit: emitted,
            needs_approval: run
                .approval
                .as_ref()
                .filter(|_| input.dry_run)
                .and_then(|approval| approval.reason()),
        };
        Ok(Answer { result, meta, next })
    }

    /// Selects the action that a body names, checks the permission, counts the call against the caller's
    /// rates, and validates the input. `rate_limits` becomes what is left of the rates.
    pub(super) async fn admit<'c>(
        &self,
        capability: &'c Arc<Capability>,
        (caller, rates): (&AgentCaller, &CallerRates<'_>),
        call_body: CallBody,
        rate_limits: &mut Vec<RateLimitState>,
    ) -> Result<(&'c Action, Input), Failure> {
        let CallBody { body, idempotency_key, by_person, trace } = call_body;
        // The schema has the largest size of each field.
        let body = body.map_err(|failure| match failure.has_code(ErrorCode::PayloadTooLarge) {
            true => failure.next(capability.schema_step()),
            false => failure,
        });
        let selected = capability.select(body?)?;
        let action = selected.action;
        let access = action.descriptor.access;
        let permitting = self.telemetry.span(trace, SpanKind::Internal, "permit");
        *rate_limits = self.permit_call((caller, rates), access)?;
        action.ensure_by(by_person)?;
        ensure_not_suspended(caller, &capability.descriptor, (&action.descriptor.name, access))?;
        drop(permitting);
        let validating = self.telemetry.span(trace, SpanKind::Internal, "validate");
        let (input, time) = match selected.takes_long() {
            false => timed(|| capability.check_input(selected, idempotency_key)),
            true => {
                let (capability, body) = (Arc::clone(capability), selected.into_body());
                let check =
                    move || capability.check_input(capability.select(body)?, idempotency_key);
                self.sandbox.compute(move || timed(check)).await
            }
        };
        drop(validating);
        // An ordinary check takes microseconds, and to charge it would take as long.
        if time >= CHARGED_CHECK_TIME {
            rates.charge_run_time(time);
        }
        Ok((action, input?))
    }

    /// Begins the span of a call.
    pub(super) fn call_span(&self, trace: Option<TraceContext>, capability: &str) -> Span {
        let name = || format!("call {capability}").into();
        let mut span = self.telemetry.named_span(trace, SpanKind::Internal, name);
        if span.is_recorded() {
            span.set("portolan.capability", capability.to_owned());
        }
        span
    }

    /// Charges the reading of a large body to the caller's run time; `rate_limited` if none is left.
    pub fn charge_body(&self, caller: &AgentCaller, bytes: usize) -> Result<(), Failure> {
        let milliseconds = bytes / BODY_BYTES_PER_MS;
        if milliseconds > 0 {
            let rates = self.rates.of(caller, false);
            rates.ensure_run_time()?;
            rates.charge_run_time(Duration::from_millis(milliseconds as u64));
        }
        Ok(())
    }

    pub(super) fn begin_keyed(
        &self,
        caller: &AgentCaller,
        capability: &Capability,
        action: &Action,
        input: &Input,
    ) -> Result<Option<KeyedCall>, Failure> {
        // A dry run stores nothing, so its answer is not stored either.
        let Some(key) = input.idempotency_key.as_ref().filter(|_| !input.dry_run) else {
            return Ok(None);
        };
        let key = IdempotencyKey {
            agent_id: caller.agent_id.to_string(),
            capability: capability.id.to_string(),
            action: action.descriptor.name.clone(),
            key: key.clone(),
        };
        // Another person may have claimed the agent since: the first call was not theirs.
        let call = json!([caller.owner_id, input.fields]);
        self.running.begin(key, &call).map(Some)
    }
}

/// Marks the span of a call as failed, and returns the failure.
fn fail(span: &mut Span, failure: Failure) -> Failure {
    span.fail(&failure.error_code);
    failure
}

/// Adds the action and its outcome to the span of a call.
pub(super) fn describe(span: &mut Span, action: &str, failure: Option<&Failure>) {
    if span.is_recorded() {
        span.set("portolan.action", action.to_owned());
        if let Some(failure) = failure {
            span.fail(&failure.error_code);
        }
    }
}

/// Returns the result of a function, and the time that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    (work(), begun.elapsed())
}
