//! One run of an action, in a fresh sandbox and on a unit of work. Calls by agents, timers, operators and
//! other capabilities all run here.

use crate::{
    answer::{check_answer, satisfies_declaration},
    call::describe,
    execution::{Executed, Execution},
    host::Host,
    nested::Frame,
    recordings::is_failed_by_component,
};
use portolan_sandbox::{Ending, GuestAnswer, HostServices, Ran, RecordedRun, Recorder, Tape, Work};
use portolan_store::Unit;
use portolan_telemetry::{SpanKind, TraceContext};
use portolan_vocabulary::{Access, ErrorCode, Failure};
use std::sync::Arc;

/// The size in bytes above which an answer is checked in another thread, because the check would delay other
/// calls.
const LARGE_ANSWER_BYTES: usize = 32 << 10;

impl Host {
    /// Runs an action once. `read_only` forbids writes even if the action's access class allows them: an
    /// action that may not write makes the call.
    pub(super) async fn execute(
        self: &Arc<Self>,
        execution: Execution<'_>,
        unit: Unit,
        read_only: bool,
    ) -> Executed {
        let outer = execution.context.trace;
        let mut span = self.telemetry.span(outer, SpanKind::Internal, "run");
        let frame = self.frame(execution, span.context_or(outer));
        let services = Arc::<Frame>::clone(&frame);
        let executed = self.execute_with(execution, (frame, services), unit, read_only).await;
        if span.is_recorded() {
            let (capability, action) = (execution.capability, &execution.action.descriptor.name);
            span.set("portolan.capability", capability.id.to_string());
            span.set("portolan.capability.version", capability.descriptor.version.clone());
            describe(&mut span, action, executed.outcome.as_ref().err());
        }
        executed
    }

    /// Returns the frame of a run, whose nested calls are at this place in a trace.
    pub(super) fn frame(
        self: &Arc<Self>,
        execution: Execution<'_>,
        trace: Option<TraceContext>,
    ) -> Arc<Frame> {
        let Execution { snapshot, capability, action, dry_run, approval, .. } = execution;
        let of = (Arc::clone(snapshot), Arc::clone(capability));
        Frame::new(Arc::clone(self), of, action, (dry_run, approval.cloned()), trace)
    }

    /// Runs an action once with `services`, which are its frame or wrap it.
    pub(super) async fn execute_with(
        self: &Arc<Self>,
        execution: Execution<'_>,
        (frame, services): (Arc<Frame>, Arc<dyn HostServices>),
        unit: Unit,
        read_only: bool,
    ) -> Executed {
        let Execution { capability, action, context, input, .. } = execution;
        let name = action.descriptor.name.as_str();
        let work = Work {
            unit,
            collections: Arc::clone(capability.collections.of(context.caller.test_mode())),
            read_only: read_only || action.descriptor.access == Access::Read,
            services,
        };
        let is_read_only = work.read_only;
        let session = context.session();
        let tape = session.map_or(Tape::Off, |_| Tape::Recording(Recorder::default()));
        let run = self.sandbox.run(
            &capability.prepared,
            &capability.id,
            context,
            (name, input),
            (work, tape),
        );
        let Ran { answer, work, tape } = run.await;
        let ending = session.map(|_| Ending::of(&answer));
        let keep_requested = matches!(&answer, Ok(GuestAnswer::Refused { keep_writes: true, .. }));
        let outcome = match answer {
            Ok(answer) if answer.size() > LARGE_ANSWER_BYTES || capability.prepared.is_heavy() => {
                let (capability, name) = (Arc::clone(capability), name.to_owned());
                let (request, nested_refusals) =
                    (Arc::clone(&context.request_id), frame.nested_refusals());
                let check = move || {
                    let unknown = || Failure::new(ErrorCode::UnknownAction);
                    let action = capability.action(&name).ok_or_else(unknown)?;
                    check_answer(&capability, action, answer, &request, &nested_refusals)
                };
                self.sandbox.compute(check).await
            }
            Ok(answer) => check_answer(
                capability,
                action,
                answer,
                &context.request_id,
                &frame.nested_refusals(),
            ),
            Err(error) => {
                let (id, request) = (&*capability.id, &*context.request_id);
                let text = error.to_string();
                if self.admit_log_message(id, text.len()) {
                    tracing::warn!(capability = id, action = name, request, "{text}");
                }
                Err(Failure::from(error))
            }
        };
        if let (Tape::Recording(recorder), Some(session), Some(ending)) = (tape, session, ending) {
            let code = outcome.as_ref().err().map(|failure| &*failure.error_code);
            let failed = is_failed_by_component(&ending, code);
            let is_nested = !context.via.is_empty();
            let imports = recorder.finish();
            if is_nested || imports.is_err() || session.needs_outermost(failed) {
                let recorded = |imports| {
                    let code = code.map(str::to_owned);
                    RecordedRun { imports, ..execution.recorded(is_read_only, (ending, code)) }
                };
                session.add(imports.map(recorded), failed);
            }
        }
        let keep_writes = keep_requested && satisfies_declaration(&outcome);
        Executed { outcome, keep_writes, unit: work.map(|work| work.unit) }
    }
}
