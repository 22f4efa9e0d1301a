//! A part of a trace while it lasts.

use crate::{
    context::TraceContext,
    exporter::{Lasting, Queue},
};
use opentelemetry::{
    KeyValue, Value,
    trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use std::{borrow::Cow, sync::Arc, time::Instant};

/// A span, which ends when it is dropped; or nothing, in a trace that is not recorded.
#[derive(Debug)]
#[must_use]
pub struct Span(Option<Box<Lasting>>);

impl Span {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn begin(
        queue: &Arc<Queue>,
        parent: TraceContext,
        kind: SpanKind,
        name: Cow<'static, str>,
    ) -> Self {
        let span_id = SpanId::from_bytes(rand::random());
        let TraceContext { trace_id, flags, is_remote, .. } = parent;
        // The same time as that of the log.
        #[expect(clippy::disallowed_methods, reason = "spans have the time of the system")]
        let now = std::time::SystemTime::now();
        let span_context = SpanContext::new(trace_id, span_id, flags, false, TraceState::NONE);
        let data = SpanData {
            span_context,
            parent_span_id: parent.span_id,
            parent_span_is_remote: is_remote,
            span_kind: kind,
            name,
            start_time: now,
            end_time: now,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: queue.scope.clone(),
        };
        Self(Some(Box::new(Lasting { data, started: Instant::now(), queue: Arc::clone(queue) })))
    }

    /// Returns whether the span is recorded, so that attributes which cost something are worth their cost.
    pub fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Returns where the spans within this one begin: here, or at `parent` if this span is not recorded.
    pub fn context_or(&self, parent: Option<TraceContext>) -> Option<TraceContext> {
        let Some(lasting) = &self.0 else { return parent };
        let context = &lasting.data.span_context;
        Some(TraceContext {
            trace_id: context.trace_id(),
            span_id: context.span_id(),
            flags: context.trace_flags(),
            is_recorded: true,
            is_remote: false,
        })
    }

    /// Links to the span of another trace, which is the cause of this one.
    pub(crate) fn link(&mut self, cause: TraceContext) {
        let Some(lasting) = &mut self.0 else { return };
        let TraceContext { trace_id, span_id, flags, is_remote, .. } = cause;
        let cause = SpanContext::new(trace_id, span_id, flags, is_remote, TraceState::NONE);
        lasting.data.links.links.push(Link::with_context(cause));
    }

    /// Keeps the caller's `tracestate`, if it is one.
    pub fn set_trace_state(&mut self, text: &str) {
        let Some(lasting) = &mut self.0 else { return };
        if let Ok(state) = text.parse::<TraceState>() {
            let context = &lasting.data.span_context;
            let (trace, span, flags) =
                (context.trace_id(), context.span_id(), context.trace_flags());
            lasting.data.span_context = SpanContext::new(trace, span, flags, false, state);
        }
    }

    /// Adds an attribute.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(lasting) = &mut self.0 {
            lasting.data.attributes.push(KeyValue::new(name, value));
        }
    }

    /// Marks the span as failed, with this code.
    pub fn fail(&mut self, code: &str) {
        if let Some(lasting) = &mut self.0 {
            lasting.data.attributes.push(KeyValue::new("error.type", code.to_owned()));
            lasting.data.status = Status::error("");
        }
    }

    /// Drops the span without sending it, because what it is about did not happen.
    pub fn discard(mut self) {
        self.0 = None;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(mut lasting) = self.0.take() {
            lasting.data.end_time = lasting.data.start_time + lasting.started.elapsed();
            let queue = Arc::clone(&lasting.queue);
            queue.add(lasting);
        }
    }
}
