//! The spans of a commit and of the events that it publishes.

use crate::{host::Host, meters::commit_error};
use portolan_store::{Audience, Unit, Verdict};
use portolan_telemetry::{Span, SpanKind, TraceContext};
use portolan_vocabulary::Caller;

impl Host {
    /// Begins the spans of the events of a unit of work, whose deliveries then belong to the trace. Only the caller's
    /// own webhooks learn its id.
    pub(super) fn begin_publications(
        &self,
        trace: Option<TraceContext>,
        caller: &Caller,
        unit: &mut Unit,
    ) -> Vec<Span> {
        let Some(outer) = trace else { return Vec::new() };
        let mut spans = Vec::new();
        for event in unit.events_mut() {
            let name = || format!("publish {}", event.event_type).into();
            let mut span = self.telemetry.named_span(trace, SpanKind::Producer, name);
            let is_own = is_own(&event.audience, caller);
            event.trace = Some(span.context_or(trace).unwrap_or(outer).stored(is_own));
            if span.is_recorded() {
                span.set("messaging.system", "portolan");
                span.set("messaging.operation.type", "send");
                span.set("messaging.destination.name", event.event_type.clone());
                span.set("messaging.message.id", event.id.clone());
                spans.push(span);
            }
        }
        spans
    }

    pub(super) fn commit_span(&self, trace: Option<TraceContext>, unit: &Unit) -> Span {
        let mut span = self.telemetry.span(trace, SpanKind::Client, "COMMIT");
        if span.is_recorded() {
            span.set("db.system.name", self.store.system());
            span.set("db.operation.name", "COMMIT");
            span.set("portolan.commit.events", unit.events().count() as i64);
        }
        span
    }
}

/// Returns whether an audience is the caller, or the person whose agent it is.
fn is_own(audience: &Audience, caller: &Caller) -> bool {
    let Caller::Agent(caller) = caller else { return false };
    match audience {
        Audience::Agent(id) => **id == *caller.agent_id,
        Audience::Owner(id) => caller.owner_id.as_deref() == Some(&**id),
        Audience::Capabilities | Audience::Listeners | Audience::Webhook { .. } => false,
    }
}

/// Ends the spans of events with their commit. Events that were not committed are not published.
pub(super) fn end_commit<E>(
    span: &mut Span,
    publications: Vec<Span>,
    committed: &Result<Verdict, E>,
) {
    let code = commit_error(committed);
    if code.is_empty() {
        return;
    }
    span.fail(code);
    publications.into_iter().for_each(Span::discard);
}
