//! Every response carries the `Request-Id` that the log and the answer's `meta` name.

use crate::{App, trace};
use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use portolan_vocabulary::{Clock, new_request_id};
use std::{sync::Arc, time::Instant};

pub(super) const HEADER: HeaderName = HeaderName::from_static("request-id");

/// The id of the request that is being answered.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

/// Gives a request its id and its place in a trace, and its response the header.
pub(super) async fn assign(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = new(&app.host.clock);
    request.extensions_mut().insert(id.clone());
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = trace::known_method(request.method());
    let caller = trace::of_caller(&app, request.headers()).await;
    let trace = app.host.telemetry.accept(caller);
    let mut response = match trace {
        None => next.run(request).await,
        Some(trace) => Box::pin(trace::answer(&app, trace, &id.0, request, next)).await,
    };
    let answer = (method, response.status().as_u16());
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    app.requests.count(route, answer, begun.elapsed(), trace);
    set_header(&mut response, &id);
    response
}

pub(super) fn new(clock: &Clock) -> RequestId {
    RequestId(new_request_id(clock.now()))
}

pub(super) fn set_header(response: &mut Response, RequestId(id): &RequestId) {
    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HEADER, value);
    }
}
