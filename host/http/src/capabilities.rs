//! `GET /v1/capabilities` in pages, with `q` a search for actions, and `GET /v1/capabilities/{id}/schema`: open to
//! everyone.

use crate::{
    App,
    address::ClientAddress,
    caller::CapabilityId,
    coding::AcceptedCodings,
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::Refusal,
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_catalog::{Capability, Document, Page};
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};

const PATH: &str = "/v1/capabilities";
/// How many actions a search finds at most.
const FOUND: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    q: Option<String>,
    cursor: Option<String>,
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Query(Asked { q, cursor }) = asked.map_err(|rejection| {
        Failure::new(ErrorCode::ValidationFailed).message(rejection.body_text())
    })?;
    if let Some(words) = q {
        if cursor.is_some() {
            let text = "Send no `cursor` with `q`: a search has one page.";
            return Err(Failure::new(ErrorCode::ValidationFailed).message(text).into());
        }
        return Ok(Json(found(find(&app, &words, FOUND, address)?)).into_response());
    }
    let snapshot = app.host.catalog.snapshot();
    let page = snapshot.page(cursor.as_deref());
    let response = document(&app, &headers, &page.document, "application/json").await?;
    Ok(with_next_page(response, PATH, page))
}

/// Names the page after this one in a link (RFC 8288).
pub(super) fn with_next_page(mut response: Response, path: &str, page: &Page) -> Response {
    let link = page.next_cursor.as_ref().and_then(|cursor| {
        HeaderValue::from_str(&format!("<{path}?cursor={cursor}>; rel=\"next\"")).ok()
    });
    if let Some(link) = link {
        response.headers_mut().append(header::LINK, link);
    }
    response
}

/// Finds at most `limit` actions that fit these words, the best first. A search costs what a call of an anonymous agent
/// costs at this address.
pub(super) fn find(
    app: &App,
    words: &str,
    limit: usize,
    address: Option<IpAddr>,
) -> Result<Vec<(Arc<Capability>, String)>, Failure> {
    app.host.rates.count_page_view(address)?;
    Ok(app.mcp.find_actions(words, limit))
}

/// Returns found actions, each with a call as an example: `{items}`.
fn found(actions: Vec<(Arc<Capability>, String)>) -> Value {
    let items = actions.into_iter().filter_map(|(capability, name)| {
        let action = &capability.action(&name)?.descriptor;
        Some(json!({
            "capability": capability.id,
            "action": action.name,
            "title": action.title,
            "access": action.access,
            "schema_url": format!("/v1/capabilities/{}/schema", capability.id),
            "call_url": format!("/v1/capabilities/{}/call", capability.id),
            "example": action.example(),
        }))
    });
    json!({ "items": items.collect::<Vec<_>>() })
}

pub(super) async fn schema(
    State(app): State<Arc<App>>,
    CapabilityId(id): CapabilityId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.find(&id, app.host.clock.now())?;
    document(&app, &headers, &capability.schema, "application/schema+json").await
}

/// Returns the document in the best coding that the client accepts, or 304 if the client has it (RFC 9110,
/// section 13.1.2).
pub(super) async fn document(
    app: &App,
    headers: &HeaderMap,
    document: &Document,
    media_type: &'static str,
) -> Result<Response, Refusal> {
    let etag = &document.etag;
    let common_headers = [
        (header::ETAG, etag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    if parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, etag)) {
        return Ok((StatusCode::NOT_MODIFIED, common_headers).into_response());
    }
    let type_header = [(header::CONTENT_TYPE, media_type)];
    let accepted = AcceptedCodings::of(headers);
    if accepted.prefers_compression() {
        let bodies = app.compressed.bodies(document, &app.host).await.map_err(|error| {
            tracing::error!(%error, "a document could not be compressed");
            Failure::new(ErrorCode::InternalError)
        })?;
        if let Some(body) = accepted.best(bodies.iter()) {
            let coding = [(header::CONTENT_ENCODING, body.coding.name())];
            return Ok((common_headers, type_header, coding, body.bytes.clone()).into_response());
        }
    }
    let bytes = Bytes::from_owner(Text(Arc::clone(&document.body)));
    Ok((common_headers, type_header, Extension(AsItIs), bytes).into_response())
}

/// The mark of a response that is not compressed for its request.
#[derive(Debug, Clone)]
pub(super) struct AsItIs;

/// A text as the owner of bytes, which are then not copied.
struct Text(Arc<str>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
