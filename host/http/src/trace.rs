//! The place of a request in a trace (W3C Trace Context), and its span.

use crate::{App, caller::bearer};
use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, Method},
    middleware::Next,
    response::Response,
};
use portolan_telemetry::{SpanKind, TraceContext};
use std::sync::Arc;
use tracing::Instrument as _;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The maximum number of bytes of a `tracestate`. W3C Trace Context asks for at least so many.
const MAX_TRACESTATE_BYTES: usize = 512;

/// The trace context in which the work for a request begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestTrace(pub(super) TraceContext);

/// Returns the place in a trace that an agent has sent. It is ignored if there are several, and if the request has no
/// valid token: strangers do not choose what is recorded.
pub(super) async fn of_caller(app: &App, headers: &HeaderMap) -> Option<TraceContext> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    let trace = TraceContext::parse(value.to_str().ok()?)?;
    let token = bearer(headers).ok()?;
    // Boxed, because few requests get here.
    Box::pin(app.host.identity.is_valid_token(token)).await.then_some(trace)
}

/// Answers a request that belongs to a trace. Its span has the route and not the path, which can contain secrets; the
/// log names the trace in each line about the request.
pub(super) async fn answer(
    app: &App,
    trace: TraceContext,
    id: &Arc<str>,
    mut request: Request,
    next: Next,
) -> Response {
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let name = || match &route {
        Some(route) => format!("{method} {route}").into(),
        None => method.into(),
    };
    let mut span = app.host.telemetry.named_span(Some(trace), SpanKind::Server, name);
    if span.is_recorded() {
        span.set("http.request.method", method);
        span.set("portolan.request.id", Arc::clone(id));
        let state = request.headers().get(TRACESTATE).and_then(|value| value.to_str().ok());
        if let Some(state) = state.filter(|state| state.len() <= MAX_TRACESTATE_BYTES) {
            span.set_trace_state(state);
        }
        if let Some(route) = route {
            span.set("http.route", route);
        }
    }
    let inner = span.context_or(Some(trace)).unwrap_or(trace);
    request.extensions_mut().insert(RequestTrace(inner));
    let line = log_span(inner, id);
    let response = next.run(request).instrument(line).await;
    let status = response.status();
    span.set("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.fail(status.as_str());
    }
    response
}

/// Returns the fields of each line of the log about a request.
fn log_span(trace: TraceContext, request_id: &str) -> tracing::Span {
    let (trace_id, span_id) = (trace.trace_id(), trace.span_id());
    tracing::info_span!("request", request_id, %trace_id, %span_id)
}

/// Returns the method, or `_OTHER` for one that a caller has made up.
pub(super) fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or("_OTHER")
}
