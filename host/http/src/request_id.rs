//! Every response carries the `Request-Id` that the log and the answer's `meta` name.

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use portolan_vocabulary::{Clock, new_request_id};
use std::sync::Arc;

pub(super) const HEADER: HeaderName = HeaderName::from_static("request-id");

/// The id of the request that is being answered.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

/// Gives a request its id, and its response the header.
pub(super) async fn assign(
    State(clock): State<Clock>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = new(&clock);
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
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
