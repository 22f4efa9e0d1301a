//! A kept trace as the operator reads it.

use crate::kept_trace::{ERROR, KeptSpan, KeptTrace, REQUEST_ID};
use opentelemetry::trace::{SpanId, SpanKind, TraceId};
use portolan_vocabulary::Timestamp;
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A kept trace in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceSummary {
    pub trace_id: String,
    /// The id of its first request, as in `meta.request_id`; `None` if due work began it.
    pub request_id: Option<String>,
    /// The name of its first span at this node.
    pub name: String,
    pub began_at: Timestamp,
    /// From its first span's beginning to its last span's end.
    pub duration_ms: f64,
    /// The error code of its first failed span.
    pub error: Option<String>,
    pub spans: usize,
}

/// A kept trace with its spans.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceReport {
    #[serde(flatten)]
    pub summary: TraceSummary,
    /// Each span is followed by those within it.
    pub tree: Vec<SpanReport>,
    /// The number of further spans, which were not kept.
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpanReport {
    pub name: String,
    /// The kind in the words of OpenTelemetry: `server`, `client`, `producer`, `consumer` or `internal`.
    pub kind: &'static str,
    /// The number of kept spans around it.
    pub depth: usize,
    /// From the beginning of the trace.
    pub began_ms: f64,
    pub duration_ms: f64,
    pub failed: bool,
    pub attributes: BTreeMap<String, String>,
}

pub(crate) fn summary(id: TraceId, trace: &KeptTrace) -> TraceSummary {
    let begun = begun(trace);
    let first = roots(trace).into_iter().next();
    let ends = trace.spans.iter().map(|span| since(begun, span.begun) + span.duration);
    let mut spans: Vec<_> = trace.spans.iter().collect();
    spans.sort_by_key(|span| span.begun);
    let attribute = |name: &str| spans.iter().find_map(|span| span.attribute(name));
    TraceSummary {
        trace_id: id.to_string(),
        request_id: attribute(REQUEST_ID).map(str::to_owned),
        name: first.map_or_else(String::new, |span| span.name.to_string()),
        began_at: Timestamp::from_millis(
            u64::try_from(since(UNIX_EPOCH, begun).as_millis()).unwrap_or_default(),
        ),
        duration_ms: milliseconds(ends.max().unwrap_or_default()),
        error: attribute(ERROR).map(str::to_owned),
        spans: trace.spans.len() + trace.left_out,
    }
}

pub(crate) fn report(id: TraceId, trace: &KeptTrace) -> TraceReport {
    let begun = begun(trace);
    let mut tree = Vec::new();
    let mut waiting: Vec<_> = roots(trace).into_iter().rev().map(|span| (span, 0)).collect();
    let mut seen = HashSet::new();
    while let Some((span, depth)) = waiting.pop() {
        // A span's id is random. Should two be equal, each is shown once.
        if !seen.insert(std::ptr::from_ref(span)) {
            continue;
        }
        tree.push(SpanReport {
            name: span.name.to_string(),
            kind: kind(&span.kind),
            depth,
            began_ms: milliseconds(since(begun, span.begun)),
            duration_ms: milliseconds(span.duration),
            failed: span.has_failed,
            attributes: span.attributes.iter().cloned().collect(),
        });
        waiting.extend(within(trace, span.id).into_iter().rev().map(|inner| (inner, depth + 1)));
    }
    TraceReport { summary: summary(id, trace), tree, left_out: trace.left_out }
}

/// Returns the spans whose parent is not kept, in the order of their beginning.
fn roots(trace: &KeptTrace) -> Vec<&KeptSpan> {
    let ids: HashSet<SpanId> = trace.spans.iter().map(|span| span.id).collect();
    ordered(trace.spans.iter().filter(|span| !ids.contains(&span.parent)))
}

fn within(trace: &KeptTrace, parent: SpanId) -> Vec<&KeptSpan> {
    ordered(trace.spans.iter().filter(|span| span.parent == parent))
}

fn ordered<'a>(spans: impl Iterator<Item = &'a KeptSpan>) -> Vec<&'a KeptSpan> {
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|span| span.begun);
    spans
}

fn begun(trace: &KeptTrace) -> SystemTime {
    trace.spans.iter().map(|span| span.begun).min().unwrap_or(UNIX_EPOCH)
}

fn since(earlier: SystemTime, later: SystemTime) -> Duration {
    later.duration_since(earlier).unwrap_or_default()
}

/// Returns milliseconds with three digits after the point.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

const fn kind(kind: &SpanKind) -> &'static str {
    match kind {
        SpanKind::Client => "client",
        SpanKind::Server => "server",
        SpanKind::Producer => "producer",
        SpanKind::Consumer => "consumer",
        SpanKind::Internal => "internal",
    }
}
