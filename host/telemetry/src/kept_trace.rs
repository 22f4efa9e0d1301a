//! A recorded trace in memory, and its spans.

use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry_sdk::trace::SpanData;
use std::{
    borrow::Cow,
    time::{Duration, SystemTime},
};

/// The attribute with the id of a request.
pub(crate) const REQUEST_ID: &str = "portolan.request.id";
/// The attribute with the error code of a failed span.
pub(crate) const ERROR: &str = "error.type";
/// A trace that took at least this long is kept longer than others, like one that failed.
const SLOW: Duration = Duration::from_millis(100);

/// A span after its end.
#[derive(Debug, Clone)]
pub(crate) struct KeptSpan {
    pub(crate) id: SpanId,
    pub(crate) parent: SpanId,
    /// Whether the span around it is a caller's.
    is_of_caller: bool,
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: SpanKind,
    pub(crate) begun: SystemTime,
    pub(crate) duration: Duration,
    pub(crate) has_failed: bool,
    pub(crate) attributes: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct KeptTrace {
    pub(crate) spans: Vec<KeptSpan>,
    /// The number of further spans, which are not kept.
    pub(crate) left_out: usize,
}

impl KeptTrace {
    pub(crate) fn is_notable(&self) -> bool {
        self.spans.iter().any(|span| span.has_failed || span.duration >= SLOW)
    }

    /// Returns whether a caller decided that the trace is recorded.
    pub(crate) fn is_of_caller(&self) -> bool {
        self.spans.iter().any(|span| span.is_of_caller)
    }

    pub(crate) fn has_request(&self, id: &str) -> bool {
        self.spans.iter().any(|span| span.attribute(REQUEST_ID) == Some(id))
    }
}

impl KeptSpan {
    pub(crate) fn of(data: &SpanData) -> Self {
        let attributes = data.attributes.iter();
        Self {
            id: data.span_context.span_id(),
            parent: data.parent_span_id,
            is_of_caller: data.parent_span_is_remote,
            name: data.name.clone(),
            kind: data.span_kind.clone(),
            begun: data.start_time,
            duration: data.end_time.duration_since(data.start_time).unwrap_or_default(),
            has_failed: matches!(data.status, Status::Error { .. }),
            attributes: attributes
                .map(|pair| (pair.key.to_string(), pair.value.to_string()))
                .collect(),
        }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}
