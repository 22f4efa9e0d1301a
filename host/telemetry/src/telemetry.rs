//! Begins traces and their spans.

use crate::{
    context::TraceContext,
    exporter::{Queue, SpanCounts},
    sampler::Sampler,
    settings::TelemetrySettings,
    span::Span,
};
use opentelemetry::trace::SpanKind;
use std::{borrow::Cow, sync::Arc, time::Duration};

/// The traces of a host. Without a collector nothing is recorded, and the traces of callers are passed on as they
/// are.
#[derive(Debug, Clone, Default)]
pub struct Telemetry(Option<Arc<Recorder>>);

#[derive(Debug)]
struct Recorder {
    sampler: Sampler,
    queue: Arc<Queue>,
}

impl Telemetry {
    /// Starts the task that sends spans, if there is a collector.
    ///
    /// # Errors
    ///
    /// Fails with a text for the operator if a setting cannot be used.
    pub fn start(settings: &TelemetrySettings) -> Result<Self, String> {
        let Some(endpoint) = &settings.otlp_endpoint else { return Ok(Self::default()) };
        let (sampler, queue) = (Sampler::new(settings), Queue::start(settings, endpoint)?);
        Ok(Self(Some(Arc::new(Recorder { sampler, queue }))))
    }

    /// Returns where the spans of a request begin, whose caller may have sent a trace; `None` if it belongs to no
    /// trace.
    pub fn accept(&self, caller: Option<TraceContext>) -> Option<TraceContext> {
        match &self.0 {
            Some(recorder) => recorder.sampler.decide(caller),
            None => caller,
        }
    }

    /// Returns where the spans of due work begin, which this host has stored with a trace, or without one.
    pub fn resume(&self, stored: Option<&str>) -> Option<TraceContext> {
        match stored.and_then(TraceContext::parse) {
            Some(stored) => {
                let is_recorded = stored.flags.is_sampled() && self.0.is_some();
                Some(TraceContext { is_recorded, ..stored })
            }
            None => self.accept(None),
        }
    }

    /// Begins a span, if the trace is recorded.
    #[inline]
    pub fn span(&self, parent: Option<TraceContext>, kind: SpanKind, name: &'static str) -> Span {
        self.named_span(parent, kind, || Cow::Borrowed(name))
    }

    /// Begins a span with a name that is made, if the trace is recorded.
    #[inline]
    pub fn named_span(
        &self,
        parent: Option<TraceContext>,
        kind: SpanKind,
        name: impl FnOnce() -> Cow<'static, str>,
    ) -> Span {
        match (parent, &self.0) {
            (Some(parent), Some(recorder)) if parent.is_recorded => {
                Span::begin(&recorder.queue, parent, kind, name())
            }
            _ => Span::NONE,
        }
    }

    /// Returns what became of the spans since the start.
    pub fn span_counts(&self) -> SpanCounts {
        self.0.as_ref().map_or_else(SpanCounts::default, |recorder| recorder.queue.counts())
    }

    /// Sends all spans that have finished, for at most this time.
    pub async fn flush(&self, limit: Duration) {
        if let Some(recorder) = &self.0 {
            recorder.queue.flush(limit).await;
        }
    }
}
