//! Every response carries the `Request-Id` that the log and the answer's `meta` name.

use crate::vocabulary::{Timestamp, new_identifier};
use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use std::sync::Arc;

const HEADER: HeaderName = HeaderName::from_static("request-id");

/// The id of the request that is being answered.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

pub(super) async fn assign(mut request: Request, next: Next) -> Response {
    let mut random = [0; 16];
    // An id that could be guessed harms nobody; one that repeats is only a nuisance in the log.
    let _drawn = getrandom::fill(&mut random);
    let id: Arc<str> =
        Arc::from(new_identifier("req", Timestamp::now(), u128::from_le_bytes(random)));
    request.extensions_mut().insert(RequestId(Arc::clone(&id)));
    let mut response = next.run(request).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}
