//! Every response carries the `Request-Id` that the log and the answer's `meta` name.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use portolan_vocabulary::{Timestamp, new_request_id};
use std::sync::Arc;

const HEADER: HeaderName = HeaderName::from_static("request-id");

/// The id of the request that is being answered.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

pub(super) async fn assign(mut request: Request, next: Next) -> Response {
    let id = new();
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    name(&mut response, &id);
    response
}

pub(super) fn new() -> RequestId {
    RequestId(new_request_id(Timestamp::now()))
}

pub(super) fn name(response: &mut Response, RequestId(id): &RequestId) {
    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HEADER, value);
    }
}
