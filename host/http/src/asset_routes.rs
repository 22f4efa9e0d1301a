//! `GET /assets/{name}`.

use crate::{App, assets, refusal, refusal::Refusal, request_id, static_file::IMMUTABLE};
use axum::{
    Router, extract::Path, http::HeaderMap, middleware::from_fn_with_state, response::Response,
    routing::get,
};
use std::sync::Arc;

/// Returns the route, without the compression layer: every body is compressed already.
pub(super) fn routes(app: &Arc<App>) -> Router {
    Router::new()
        .route("/assets/{name}", get(asset))
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(Arc::clone(app), request_id::assign))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Refusal> {
    match assets::find(&name) {
        Some(file) => Ok(file.respond(IMMUTABLE, &headers)),
        None => Err(refusal::no_such_path().await),
    }
}
