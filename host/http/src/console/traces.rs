//! The pages of the kept traces: which there are, and where the time of one went.

use super::{
    figures::{moment, quoted},
    frame::{Done, Frame, shown, with_query},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Timestamp};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::Arc};
use url::form_urlencoded::byte_serialize;

/// The path of the list.
const PATH: &str = "/console/traces";
/// The width of the chart of a trace.
const WIDTH: f64 = 100.0;
/// The least width of a bar, so that it can be seen.
const LEAST: f64 = 0.5;
/// The deepest indentation of a span.
const MAX_DEPTH: usize = 8;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    #[serde(default)]
    order: String,
    #[serde(default)]
    failed: String,
    /// The id of a trace or request to look for.
    #[serde(default)]
    id: String,
}

/// The answer to `GET /traces`.
#[derive(Debug, Deserialize)]
struct Traces {
    traces: Vec<Summary>,
}

#[derive(Debug, Deserialize)]
struct Summary {
    trace_id: String,
    request_id: Option<String>,
    name: String,
    began_at: Timestamp,
    duration_ms: f64,
    error: Option<String>,
    spans: u64,
}

/// The answer to `GET /traces/{id}`.
#[derive(Debug, Deserialize)]
struct Trace {
    #[serde(flatten)]
    summary: Summary,
    tree: Vec<Span>,
    left_out: u64,
}

#[derive(Debug, Deserialize)]
struct Span {
    name: String,
    kind: String,
    depth: usize,
    began_ms: f64,
    duration_ms: f64,
    failed: bool,
    attributes: BTreeMap<String, String>,
}

/// The bar of a span in the chart.
struct Bar {
    x: f64,
    width: f64,
}

impl Trace {
    fn bar(&self, span: &Span) -> Bar {
        let whole = self.summary.duration_ms.max(f64::EPSILON);
        let scaled = |part: f64| (part / whole * WIDTH).clamp(0.0, WIDTH);
        let width = scaled(span.duration_ms).max(LEAST);
        Bar { x: scaled(span.began_ms).min(WIDTH - width), width }
    }
}

impl Span {
    fn indentation(&self) -> usize {
        self.depth.min(MAX_DEPTH)
    }
}

#[derive(Template)]
#[template(path = "console/traces.html")]
struct TracesPage {
    frame: Frame,
    filter: Filter,
    traces: Vec<Summary>,
}

#[derive(Template)]
#[template(path = "console/trace.html")]
struct TracePage {
    frame: Frame,
    trace: Trace,
}

pub(super) async fn list(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(filter): Query<Filter>,
    Query(done): Query<Done>,
) -> Response {
    let id = filter.id.trim();
    if !id.is_empty() {
        return trace(&console, &visitor, id, &done).await;
    }
    let order = if filter.order == "slowest" { "slowest" } else { "" };
    let failed = if filter.failed.is_empty() { "" } else { "true" };
    let path = with_query("/traces", &[("order", order), ("failed", failed)]);
    let traces: Result<Traces, Failure> = console.api.get(&visitor.operator, &path).await;
    let frame = Frame::new(&console, &visitor, PATH, &done);
    shown(traces.map(|Traces { traces }| TracesPage { frame, filter, traces }))
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(done): Query<Done>,
) -> Response {
    trace(&console, &visitor, &id, &done).await
}

async fn trace(console: &Console, visitor: &Visitor, id: &str, done: &Done) -> Response {
    let id: String = byte_serialize(id.as_bytes()).collect();
    let path = format!("/traces/{id}");
    let trace: Result<Trace, Failure> = console.api.get(&visitor.operator, &path).await;
    let frame = Frame::new(console, visitor, PATH, done);
    shown(trace.map(|trace| TracePage { frame, trace }))
}
