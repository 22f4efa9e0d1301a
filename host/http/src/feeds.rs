//! The public feeds: `GET` and `HEAD` of the published documents, without credentials. Documents are
//! encoded and compressed when they are published, never for a request.

use crate::{
    coding::AcceptedCodings,
    conditional::{is_unmodified_since, matches_any_tag, parse_if_none_match},
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

/// Feeds are built once an hour, so a copy that is a minute old is new enough.
const CACHE_ONE_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const ANY: HeaderValue = HeaderValue::from_static("*");
/// The maximum number of headers of a response, including those that the connection adds.
const MAX_HEADERS: usize = 14;
/// The seconds after which a client may ask again while nothing is published.
const RETRY_AFTER_S: u32 = 60;

/// Returns the routes for what [`document`] does not answer: requests before the first publication,
/// other methods, and CORS preflight requests.
pub(super) fn routes(clock: Clock) -> Router {
    let unavailable = async || not_published();
    let router = paths().fold(Router::new(), |router, path| router.route(path, get(unavailable)));
    router.method_not_allowed_fallback(refusal::no_such_method).layer((
        from_fn_with_state(clock, request_id::assign),
        any_origin().allow_methods([Method::GET, Method::HEAD]).vary([]),
    ))
}

/// Returns the response with a document, if the path is a document's, and the file that holds the
/// body's bytes, if there is one. The server itself omits the body in answers to `HEAD`.
pub(super) fn document<B>(
    publication: &Publication,
    request: &Request<B>,
) -> Option<(Response, Option<Arc<FileBacked>>)> {
    let document = publication.document(request.uri().path())?;
    let headers = request.headers();
    let accepted = AcceptedCodings::of(headers);
    let acceptable =
        || document.bodies().filter(|body| accepted.weight(body.coding.name()).is_some());
    // A client that accepts none of the codings gets the uncompressed body.
    let best = accepted.best(document.bodies()).unwrap_or_else(|| document.plain());
    let cached = match parse_if_none_match(headers) {
        // A copy in any acceptable coding is as good as the best one.
        Some(tags) => {
            iter::once(best).chain(acceptable()).find(|body| matches_any_tag(&tags, &body.etag))
        }
        None => is_unmodified_since(headers, document.modified).then_some(best),
    };
    Some(match cached {
        Some(body) => (not_modified(document, body), None),
        None => (full_response(document, best), best.file.clone()),
    })
}

fn full_response(document: &Document, body: &Body) -> Response {
    let mut response = Response::new(body::Body::from(body.bytes.clone()));
    let headers = response.headers_mut();
    *headers = validators(document, body);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(document.entry.media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
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

/// Returns the headers of both 200 and 304: the validators for caches, and CORS.
fn validators(document: &Document, body: &Body) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
    let validators = [(header::ETAG, &body.etag), (header::LAST_MODIFIED, &document.last_modified)];
    for (name, text) in validators {
        // Both are printable, so this does not fail.
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    }
    headers.insert(header::CACHE_CONTROL, CACHE_ONE_MINUTE);
    headers.insert(header::VARY, ACCEPT_ENCODING);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANY);
    headers
}

fn not_published() -> Refusal {
    let message =
        "No feeds are published here yet. The operator builds them with `portolan feeds build`.";
    Refusal(Failure::new(ErrorCode::DependencyUnavailable).message(message).after_s(RETRY_AFTER_S))
}
