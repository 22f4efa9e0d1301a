//! A collector of traces: it takes OTLP over HTTP, as protobuf.

use crate::harness::PATIENCE;
use axum::{Router, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind},
};
use prost::Message as _;
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// The data that a collector has received.
#[derive(Default)]
struct Received {
    spans: Vec<Span>,
    services: Vec<String>,
    headers: Vec<HeaderMap>,
    /// The status of the answers; 0 for one that never comes.
    status: u16,
}

/// A collector, which ends when this is dropped.
pub struct Collector {
    pub url: String,
    received: Arc<Mutex<Received>>,
    work: JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Collector {
    pub async fn start() -> Self {
        Self::answering(200).await
    }

    /// Starts a collector that answers with this status, or never if that is 0.
    pub async fn answering(status: u16) -> Self {
        let received = Arc::new(Mutex::new(Received { status, ..Received::default() }));
        let routes =
            Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&received));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let work = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, received, work }
    }

    pub fn spans(&self) -> Vec<Span> {
        self.received.lock().unwrap().spans.clone()
    }

    /// Returns the names of the services that have sent spans.
    pub fn services(&self) -> Vec<String> {
        self.received.lock().unwrap().services.clone()
    }

    pub fn headers(&self) -> Vec<HeaderMap> {
        self.received.lock().unwrap().headers.clone()
    }

    /// Waits until the spans of a trace have what is wanted, and returns them.
    pub async fn wait_for(&self, trace_id: &str, wanted: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let started = Instant::now();
        loop {
            let mut spans = self.spans();
            spans.retain(|span| hex(&span.trace_id) == trace_id);
            if wanted(&spans) {
                return spans;
            }
            let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
            assert!(started.elapsed() < PATIENCE, "only {names:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn take(
    State(received): State<Arc<Mutex<Received>>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let status = {
        let mut received = received.lock().unwrap();
        received.headers.push(headers);
        for resource in request.resource_spans {
            let attributes = resource.resource.unwrap_or_default().attributes;
            let name = attributes.iter().find(|attribute| attribute.key == "service.name");
            received.services.extend(name.map(|name| text(name.value.as_ref())));
            received.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
        received.status
    };
    if status == 0 {
        std::future::pending::<()>().await;
    }
    StatusCode::from_u16(status).unwrap()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Returns an attribute as a text; an empty one if there is none.
pub fn attribute(span: &Span, name: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == name);
    text(found.and_then(|attribute| attribute.value.as_ref()))
}

/// Returns the only span with this name and kind.
pub fn one<'a>(spans: &'a [Span], name: &str, kind: SpanKind) -> &'a Span {
    let mut found = spans.iter().filter(|span| span.name == name && span.kind == kind as i32);
    let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
    let one = found.next().unwrap_or_else(|| panic!("no {name} in {names:?}"));
    assert!(found.next().is_none(), "several {name} in {names:?}");
    one
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
