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
    Json, Router, body,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::get,
};
use futures_util::stream;
use portolan_publication::{
    Body, Coding, Document, Feeds, FileBacked, Part, Publication, form_paths, paths,
};
use portolan_vocabulary::{Clock, ErrorCode, Failure};
use serde_json::{Value, json};
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

/// Returns the routes for what [`document`] does not answer: requests before the first publication, parts
/// that are not in it, other methods, and CORS preflight requests.
pub(super) fn routes(feeds: Arc<Feeds>, clock: Clock) -> Router {
    let unavailable = async || not_published();
    let router = paths().fold(Router::new(), |router, path| router.route(path, get(unavailable)));
    let all = Arc::clone(&feeds);
    let form = move |uri: Uri, headers: HeaderMap| form_response(Arc::clone(&all), uri, headers);
    let router = form_paths().fold(router, |router, path| router.route(path, get(form.clone())));
    let all = Arc::clone(&feeds);
    let list = move || snapshot_list(Arc::clone(&all));
    let all = Arc::clone(&feeds);
    let snapshot = move |place: Result<Path<(String, String)>, PathRejection>,
                         headers: HeaderMap| {
        snapshot_response(Arc::clone(&all), place, headers)
    };
    let router = router
        .route("/map/data/snapshots.json", get(list))
        .route("/map/data/snapshots/{day}/{*file}", get(snapshot));
    let no_such_part = move || {
        let is_published = feeds.current().is_some();
        async move { if is_published { refusal::no_such_path().await } else { not_published() } }
    };
    let router = router.route("/map/data/parts/{name}", get(no_such_part));
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
    let path = request.uri().path();
    let headers = request.headers();
    let Some(document) = publication.document(path) else {
        return publication.part(path).map(|part| (part_response(part, headers), None));
    };
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

/// Returns the response with another form of a feed, which is made by the first request for it.
async fn form_response(feeds: Arc<Feeds>, uri: Uri, headers: HeaderMap) -> Response {
    let Some(publication) = feeds.current() else { return not_published().into_response() };
    let making = tokio::task::spawn_blocking(move || publication.form(uri.path()));
    match making.await {
        Ok(Some(part)) => part_response(&part, &headers),
        Ok(None) | Err(_) => Refusal(Failure::new(ErrorCode::InternalError)).into_response(),
    }
}

/// Returns the response with the list of snapshots.
async fn snapshot_list(feeds: Arc<Feeds>) -> Response {
    let listing = tokio::task::spawn_blocking(move || feeds.snapshot_days());
    let Ok(Ok(days)) = listing.await else {
        return Refusal(Failure::new(ErrorCode::InternalError)).into_response();
    };
    let of_day =
        |day: &String| json!({ "date": day, "path": format!("/map/data/snapshots/{day}/") });
    let items: Vec<Value> = days.iter().map(of_day).collect();
    ([(header::CACHE_CONTROL, CACHE_ONE_MINUTE)], Json(json!({ "items": items }))).into_response()
}

/// Returns the response with a document of a snapshot.
async fn snapshot_response(
    feeds: Arc<Feeds>,
    place: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((day, file))) = place else {
        return refusal::no_such_path().await.into_response();
    };
    match tokio::task::spawn_blocking(move || feeds.snapshot(&day, &file)).await {
        Ok(Ok(Some(part))) => part_response(&part, &headers),
        Ok(Ok(None)) => refusal::no_such_path().await.into_response(),
        Ok(Err(_)) | Err(_) => Refusal(Failure::new(ErrorCode::InternalError)).into_response(),
    }
}

/// Returns the response with a part or another form of a feed, which has no time of its last change.
fn part_response(part: &Part, headers: &HeaderMap) -> Response {
    let is_packed = AcceptedCodings::of(headers).weight(Coding::Gzip.name()).is_some();
    let etag = if is_packed { &part.packed_etag } else { &part.etag };
    // The index lists the entity tag of the plain bytes.
    let known = parse_if_none_match(headers)
        .is_some_and(|tags| matches_any_tag(&tags, etag) || matches_any_tag(&tags, &part.etag));
    let body = match (known, is_packed) {
        (true, _) => body::Body::empty(),
        (false, true) => body::Body::from(part.packed.clone()),
        (false, false) => body::Body::from_stream(stream::iter(part.plain())),
    };
    let mut response = Response::new(body);
    *response.headers_mut() = common_headers(etag);
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(part.media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    if let Some(coding) = Coding::Gzip.header().filter(|_| is_packed) {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
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
    let mut headers = common_headers(&body.etag);
    // The time is printable, so this does not fail.
    if let Ok(value) = HeaderValue::from_str(&document.last_modified) {
        headers.insert(header::LAST_MODIFIED, value);
    }
    headers
}

fn common_headers(etag: &str) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
    // An entity tag is printable, so this does not fail.
    if let Ok(value) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, value);
    }
    headers.insert(header::CACHE_CONTROL, CACHE_ONE_MINUTE);
    headers.insert(header::VARY, ACCEPT_ENCODING);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANY);
    headers
}

pub(super) fn not_published() -> Refusal {
    let message =
        "No feeds are published here yet. The operator builds them with `portolan feeds build`.";
    Refusal(Failure::new(ErrorCode::DependencyUnavailable).message(message).after_s(RETRY_AFTER_S))
}
