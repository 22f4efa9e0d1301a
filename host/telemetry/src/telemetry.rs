//! Begins traces and their spans.

use crate::{
    context::TraceContext,
    exporter::{Queue, SpanCounts},
    kept::KeptTraces,
    report::{TraceReport, TraceSummary},
    sampler::Sampler,
    settings::TelemetrySettings,
    span::Span,
};
use opentelemetry::trace::SpanKind;
use std::{borrow::Cow, sync::Arc, time::Duration};

/// The traces of a host. If there is no collector and none are kept, nothing is recorded, and the traces of callers
/// are passed on as they are.
#[derive(Debug, Clone, Default)]
pub struct Telemetry(Option<Arc<Recorder>>);

#[derive(Debug)]
struct Recorder {
    sampler: Sampler,
    queue: Arc<Queue>,
    kept: Arc<KeptTraces>,
}

impl Telemetry {
    /// Starts the task that keeps and sends spans, if they are kept or there is a collector.
    ///
    /// # Errors
    ///
    /// Fails with a text for the operator if a setting cannot be used.
    pub fn start(settings: &TelemetrySettings) -> Result<Self, String> {
        if settings.otlp_endpoint.is_none() && settings.keep == 0 {
            return Ok(Self::default());
        }
        let kept = Arc::new(KeptTraces::new(settings.keep));
        let queue = Queue::start(settings, Arc::clone(&kept))?;
        let sampler = Sampler::new(settings);
        Ok(Self(Some(Arc::new(Recorder { sampler, queue, kept }))))
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
        Some(self.resume_for(stored)?.0)
    }

    /// Begins the span of a request with which stored work is sent to others, and returns it with what they are told
    /// of the trace. If they are not the caller's own, they do not learn its id: the span begins a trace with a link to
    /// the caller's, and they are told nothing if that is not recorded.
    pub fn delivery_span(
        &self,
        stored: Option<&str>,
        name: &'static str,
    ) -> (Span, Option<TraceContext>) {
        let Some((trace, is_own)) = self.resume_for(stored) else { return (Span::NONE, None) };
        if is_own {
            let span = self.span(Some(trace), SpanKind::Client, name);
            let told = span.context_or(Some(trace));
            return (span, told);
        }
        let begun = trace.is_recorded.then(|| TraceContext::begun(rand::random()));
        let mut span = self.span(begun, SpanKind::Client, name);
        span.link(trace);
        let told = span.context_or(None);
        (span, told)
    }

    /// Returns where the spans of stored work begin, and whether those who receive it may know: a trace that begins with
    /// it is nobody else's.
    fn resume_for(&self, stored: Option<&str>) -> Option<(TraceContext, bool)> {
        match stored.and_then(TraceContext::parse_stored) {
            Some((stored, is_own)) => {
                let is_recorded = stored.is_recorded && self.0.is_some();
                Some((TraceContext { is_recorded, ..stored }, is_own))
            }
            None => Some((self.accept(None)?, true)),
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

    /// Returns the traces that are kept, the latest first.
    pub fn kept(&self) -> Vec<TraceSummary> {
        self.0.as_ref().map_or_else(Vec::new, |recorder| recorder.kept.list())
    }

    /// Returns a kept trace by its id, or by the id of one of its requests.
    pub fn find_kept(&self, id: &str) -> Option<TraceReport> {
        self.0.as_ref()?.kept.find(id)
    }

    /// Sends all spans that have finished, for at most this time.
    pub async fn flush(&self, limit: Duration) {
        if let Some(recorder) = &self.0 {
            recorder.queue.flush(limit).await;
        }
    }
}
