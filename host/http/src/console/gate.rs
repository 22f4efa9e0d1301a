//! The gate of every request to the console: the checks of the operator's address, and the headers of its pages.

use super::failure;
use crate::{App, operator::SocketUser, refusal::Refused};
use axum::{
    extract::{Request, State},
    http::{HeaderValue, header::REFERRER_POLICY},
    middleware::Next,
    response::Response,
};
use std::sync::Arc;

pub(super) async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_own = match request.extensions().get::<SocketUser>() {
        Some(_) => Ok(()),
        None => app.operator.ensure_own(request.headers()),
    };
    let mut response = match is_own {
        Ok(()) => next.run(request).await,
        Err(refused) => failure::page_of(&refused),
    };
    if let Some(Refused(refused)) = response.extensions_mut().remove() {
        response = failure::page_of(&refused);
    }
    // With `no-referrer`, browsers would send no origin with forms, and these are refused then.
    let policy = HeaderValue::from_static("same-origin");
    response.headers_mut().insert(REFERRER_POLICY, policy);
    response
}
