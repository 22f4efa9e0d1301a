//! The public feeds: `GET` and `HEAD` of the published documents, without credentials. Documents are
//! encoded and compressed when they are published, never for a request.

use crate::{
    App,
    admission::count_request,
    chunks::body_of,
    coding::AcceptedCodings,
    conditional::{is_unmodified_since, matches_any_tag, parse_if_none_match},
    cors::any_origin,
    refusal::{self, Refusal},
    request_id,
};
use axum::{
    Router,
    body::{self, Bytes},
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::get,
};
use futures_util::stream;
use portolan_publication::{
    Body, Coding, Document, Feeds, FileBacked, Part, Publication, no_feeds,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Value, json};
use std::{
    io::{self, Read},
    iter,
    sync::Arc,
};
use tokio::task::spawn_blocking;

/// Feeds are built once an hour, so a copy that is a minute old is new enough.
const CACHE_ONE_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const ANY: HeaderValue = HeaderValue::from_static("*");
/// The maximum number of headers of a response, including those that the connection adds.
const MAX_HEADERS: usize = 15;
/// How many bytes of a snapshot are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Returns the routes for what [`document`] does not answer: requests before the first publication, parts
/// that are not in it, other forms, snapshots, other methods, and CORS preflight requests.
pub(super) fn routes(app: &Arc<App>) -> Router {
    let router = app.host.cities().fold(Router::new(), |router, feeds| {
        router.merge(uncounted(feeds)).merge(counted(app, feeds))
    });
    router.method_not_allowed_fallback(refusal::no_such_method).layer((
        from_fn_with_state(Arc::clone(app), request_id::assign),
        any_origin().allow_methods([Method::GET, Method::HEAD]).vary([]),
    ))
}

/// Returns the routes of a city whose requests are not counted.
fn uncounted(feeds: &Arc<Feeds>) -> Router {
    let unavailable = async || not_published();
    let add = |router: Router, path: String| router.route(&path, get(unavailable));
    let router = feeds.paths().fold(Router::new(), add);
    let all = Arc::clone(feeds);
    let no_such_part = move || {
        let is_published = all.current().is_some();
        async move { if is_published { refusal::no_such_path().await } else { not_published() } }
    };
    router.route(&feeds.roads().path("parts/{name}"), get(no_such_part))
}

/// Returns the routes of a city that read files or make something, so that their requests are counted.
fn counted(app: &Arc<App>, feeds: &Arc<Feeds>) -> Router {
    let all = Arc::clone(feeds);
    let form = move |uri: Uri, headers: HeaderMap| form_response(Arc::clone(&all), uri, headers);
    let add = |router: Router, path: String| router.route(&path, get(form.clone()));
    let router = feeds.form_paths().fold(Router::new(), add);
    let all = Arc::clone(feeds);
    let list = move |headers: HeaderMap| snapshot_list(Arc::clone(&all), headers);
    let all = Arc::clone(feeds);
    let snapshot = move |place: Result<Path<(String, String)>, PathRejection>,
                         headers: HeaderMap| {
        snapshot_response(Arc::clone(&all), place, headers)
    };
    router
        .route(&feeds.roads().path("snapshots.json"), get(list))
        .route(&feeds.roads().path("snapshots/{day}/{*file}"), get(snapshot))
        .route_layer(from_fn_with_state(Arc::clone(app), count_request))
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
    // A task of its own, so that a form whose first reader disconnects is not begun again.
    let making = tokio::spawn(async move { publication.form(uri.path()).await });
    match making.await.map_err(io::Error::other) {
        Ok(Ok(Some(part))) => part_response(&part, &headers),
        Ok(Ok(None)) => refusal::no_such_path().await.into_response(),
        Ok(Err(error)) | Err(error) => failed(&error),
    }
}

/// Returns the response with the list of snapshots.
async fn snapshot_list(feeds: Arc<Feeds>, headers: HeaderMap) -> Response {
    let roads = feeds.roads().clone();
    let list = move |days: Vec<String>| {
        let of_day = |day: String| {
            let path = roads.path(&format!("snapshots/{day}/"));
            json!({ "date": day, "path": path })
        };
        let items: Vec<Value> = days.into_iter().map(of_day).collect();
        json!({ "items": items }).to_string().into_bytes()
    };
    let listing = spawn_blocking(move || feeds.snapshots.list(list)).await;
    match listing.map_err(io::Error::other) {
        Ok(Ok(part)) => part_response(&part, &headers),
        Ok(Err(error)) | Err(error) => failed(&error),
    }
}

/// Returns the response with a document of a snapshot, which is read while it is sent.
async fn snapshot_response(
    feeds: Arc<Feeds>,
    place: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((day, file))) = place else {
        return refusal::no_such_path().await.into_response();
    };
    let opening = spawn_blocking(move || feeds.snapshots.document(&day, &file)).await;
    let document = match opening.map_err(io::Error::other) {
        Ok(Ok(Some(document))) => document,
        Ok(Ok(None)) => return refusal::no_such_path().await.into_response(),
        Ok(Err(error)) | Err(error) => return failed(&error),
    };
    let length = document.packed_length;
    let tags = Tags { plain: &document.etag.clone(), packed: &document.packed_etag.clone() };
    packed_response(tags, "application/json", &headers, |is_packed| {
        let length = is_packed.then_some(length);
        (streamed(document.reader(is_packed)), length)
    })
}

fn failed(error: &io::Error) -> Response {
    tracing::warn!(%error, "a form or a snapshot of the feeds cannot be read");
    Refusal(Failure::new(ErrorCode::InternalError)).into_response()
}

/// Returns a body that is read piece by piece, in threads that may block.
fn streamed(reader: Box<dyn Read + Send>) -> body::Body {
    body_of(stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        let reading = spawn_blocking(move || {
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            let read = reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
            read.map(|_| (Bytes::from(chunk), reader))
        });
        match reading.await.map_err(io::Error::other) {
            Ok(Ok((chunk, _))) if chunk.is_empty() => None,
            Ok(Ok((chunk, reader))) => Some((Ok(chunk), Some(reader))),
            Ok(Err(error)) | Err(error) => Some((Err(error), None)),
        }
    }))
}

/// Returns the response with a part or another form of a feed, which has no time of its last change.
fn part_response(part: &Part, headers: &HeaderMap) -> Response {
    let tags = Tags { plain: &part.etag, packed: &part.packed_etag };
    packed_response(tags, part.media_type, headers, |is_packed| match is_packed {
        true => (body::Body::from(part.packed.clone()), None),
        false => (body::Body::from_stream(stream::iter(part.plain())), None),
    })
}

/// The entity tags of a document that is held compressed.
struct Tags<'a> {
    plain: &'a str,
    packed: &'a str,
}

/// Returns the response with a document that is held compressed. `body` makes the body, compressed or not, and
/// may say its length.
fn packed_response(
    tags: Tags<'_>,
    media_type: &'static str,
    headers: &HeaderMap,
    body: impl FnOnce(bool) -> (body::Body, Option<u64>),
) -> Response {
    let is_packed = AcceptedCodings::of(headers).weight(Coding::Gzip.name()).is_some();
    let etag = if is_packed { tags.packed } else { tags.plain };
    // The index lists the entity tag of the plain bytes.
    let known = parse_if_none_match(headers)
        .is_some_and(|known| matches_any_tag(&known, etag) || matches_any_tag(&known, tags.plain));
    if known {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        *response.headers_mut() = common_headers(etag);
        return response;
    }
    let (body, length) = body(is_packed);
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    *headers = common_headers(etag);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
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
    if let Some(value) = document.link.as_ref().and_then(|link| HeaderValue::from_str(link).ok()) {
        headers.insert(header::LINK, value);
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
    Refusal(no_feeds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A file without end, which knows how much of it was read.
    struct Endless(Arc<AtomicUsize>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(buffer.len(), Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[tokio::test]
    async fn a_snapshot_is_read_only_as_far_as_it_is_sent() {
        let read = Arc::new(AtomicUsize::new(0));
        let mut body = streamed(Box::new(Endless(Arc::clone(&read)))).into_data_stream();
        for pieces in 1..4 {
            let piece = body.next().await.unwrap().unwrap();
            assert_eq!(piece.len(), CHUNK_BYTES);
            assert_eq!(read.load(Ordering::Relaxed), pieces * CHUNK_BYTES);
        }
        let ended = streamed(Box::new(&b"the end"[..])).into_data_stream();
        let pieces: Vec<Bytes> = ended.map(Result::unwrap).collect().await;
        assert_eq!(pieces, ["the end"]);
    }
}
