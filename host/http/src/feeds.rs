//! The public feeds: `GET` and `HEAD` of what is published, without a credential. Nothing is made for a
//! request; it is given bytes that are there.

use crate::{
    coding::Accepted,
    conditional::{is_known, is_known_since, known_tags},
    cors::any_origin,
    refusal::{self, Refusal},
    request_id,
};
use axum::{
    Router, body,
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
    middleware::from_fn_with_state,
    response::Response,
    routing::get,
};
use portolan_publication::{Body, Document, FileBacked, Publication, paths};
use portolan_vocabulary::{Clock, ErrorCode, Failure};
use std::{iter, sync::Arc};

/// Feeds are built once an hour; who misses the first minute of one misses nothing.
const FOR_A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const BY_CODING: HeaderValue = HeaderValue::from_static("accept-encoding");
const NO_GUESSING: HeaderValue = HeaderValue::from_static("nosniff");
const ANY: HeaderValue = HeaderValue::from_static("*");
/// As many as an answer has at most, those of the connection among them.
const HEADERS: usize = 14;
/// Seconds after which it is worth asking again where there are no feeds.
const AGAIN_S: u32 = 60;

/// What is left to the routes: that nothing is published yet, other methods, and whether a page of
/// another origin may ask.
pub(super) fn routes(clock: Clock) -> Router {
    let nothing = async || nothing_published();
    let all = paths().fold(Router::new(), |router, path| router.route(path, get(nothing)));
    all.method_not_allowed_fallback(refusal::no_such_method).layer((
        from_fn_with_state(clock, request_id::assign),
        any_origin().allow_methods([Method::GET, Method::HEAD]).vary([]),
    ))
}

/// A document, if it is asked for one, and where the bytes of the answer are held. The server itself
/// leaves out the body of an answer to `HEAD`.
pub(super) fn document<B>(
    publication: &Publication,
    request: &Request<B>,
) -> Option<(Response, Option<Arc<FileBacked>>)> {
    let document = publication.document(request.uri().path())?;
    let headers = request.headers();
    let accepted = Accepted::of(headers);
    let weight = |body: &&Body| accepted.weight(body.coding.name());
    let taken = || document.bodies().filter(|body| weight(body).is_some());
    // Who takes nothing that there is can still be given what is not packed.
    let best = taken().max_by_key(weight).unwrap_or_else(|| document.plain());
    let known = match known_tags(headers) {
        // A client that has one of the codings it takes needs no other one.
        Some(tags) => iter::once(best).chain(taken()).find(|body| is_known(&tags, &body.etag)),
        None => is_known_since(headers, document.modified).then_some(best),
    };
    Some(match known {
        Some(body) => (not_modified(document, body), None),
        None => (whole(document, best), best.file.clone()),
    })
}

fn whole(document: &Document, body: &Body) -> Response {
    let mut response = Response::new(body::Body::from(body.bytes.clone()));
    let headers = response.headers_mut();
    *headers = validators(document, body);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(document.entry.media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_GUESSING);
    if let Some(coding) = body.coding.header() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

fn not_modified(document: &Document, body: &Body) -> Response {
    let mut response = Response::new(body::Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.headers_mut() = validators(document, body);
    response
}

/// What a cache needs to know, whether it has the document or not, and that every page may read it.
fn validators(document: &Document, body: &Body) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS);
    let told = [(header::ETAG, &body.etag), (header::LAST_MODIFIED, &document.last_modified)];
    for (name, text) in told {
        // Both are printable.
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    }
    headers.insert(header::CACHE_CONTROL, FOR_A_MINUTE);
    headers.insert(header::VARY, BY_CODING);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANY);
    headers
}

fn nothing_published() -> Refusal {
    let message =
        "No feeds are published here yet. The operator makes them with `portolan feeds build`.";
    Refusal(Failure::new(ErrorCode::DependencyUnavailable).message(message).after_s(AGAIN_S))
}
