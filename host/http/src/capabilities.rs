//! `GET /v1/capabilities` and `GET /v1/capabilities/{id}/schema`: open to everyone.

use crate::{
    App,
    caller::CapabilityId,
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::Refusal,
};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_catalog::Document;
use std::sync::Arc;

pub(super) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    document(&headers, &app.host.catalog.snapshot().document, "application/json")
}

pub(super) async fn schema(
    State(app): State<Arc<App>>,
    CapabilityId(id): CapabilityId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.find(&id, app.host.clock.now())?;
    Ok(document(&headers, &capability.schema, "application/schema+json"))
}

/// Returns the document, or 304 if the client has it (RFC 9110, section 13.1.2).
pub(super) fn document(
    headers: &HeaderMap,
    document: &Document,
    media_type: &'static str,
) -> Response {
    let etag = &document.etag;
    let common_headers = [
        (header::ETAG, etag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    let is_current = parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, etag));
    if is_current {
        return (StatusCode::NOT_MODIFIED, common_headers).into_response();
    }
    (common_headers, [(header::CONTENT_TYPE, media_type)], document.body.to_string())
        .into_response()
}
