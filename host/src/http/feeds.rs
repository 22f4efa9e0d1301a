//! The public feeds: `GET` and `HEAD` of what is published, without a credential. Nothing is made for a
//! request; it is given bytes that are there.

use crate::{
    feeds::{Body, Document, paths},
    http::{
        App,
        answer::{self, Refusal},
        any_origin,
        coding::Accepted,
        conditional::{is_known, is_known_since, known_tags},
        request_id,
    },
    vocabulary::Failure,
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header},
    middleware::from_fn,
    response::{IntoResponse as _, Response},
    routing::get,
};
use std::{
    iter,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// Feeds are built once an hour; who misses the first minute of one misses nothing.
const FOR_A_MINUTE: &str = "public, max-age=60";
/// Seconds after which it is worth asking again where there are no feeds.
const AGAIN_S: u32 = 60;

/// They are packed already, and need no other layer than these.
pub(super) fn routes(app: Arc<App>) -> Router {
    let all = paths().fold(Router::new(), |router, path| router.route(path, get(document)));
    all.method_not_allowed_fallback(answer::no_such_method).with_state(app).layer((
        from_fn(request_id::assign),
        any_origin().allow_methods([Method::GET, Method::HEAD]).vary([]),
    ))
}

async fn document(
    State(app): State<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let publication = app.host.feeds.current().ok_or_else(nothing_published)?;
    let document = publication.document(uri.path()).ok_or_else(nothing_published)?;
    let accepted = Accepted::of(&headers);
    let weight = |body: &&Body| accepted.weight(body.coding.name());
    let taken = || document.bodies().filter(|body| weight(body).is_some());
    // Who takes nothing that there is can still be given what is not packed.
    let best = taken().max_by_key(weight).unwrap_or_else(|| document.plain());
    let known = match known_tags(&headers) {
        // A client that has one of the codings it takes needs no other one.
        Some(tags) => iter::once(best).chain(taken()).find(|body| is_known(&tags, &body.etag)),
        None => is_known_since(&headers, document.modified).then_some(best),
    };
    Ok(match known {
        Some(body) => (StatusCode::NOT_MODIFIED, validators(document, body)).into_response(),
        None => whole(document, best),
    })
}

fn whole(document: &Document, body: &Body) -> Response {
    let about = [
        (header::CONTENT_TYPE, document.place.media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let coding = body.coding.header().map(|name| [(header::CONTENT_ENCODING, name)]);
    (validators(document, body), about, coding, body.bytes.clone()).into_response()
}

/// What a cache needs to know, whether it has the document or not.
fn validators(document: &Document, body: &Body) -> [(HeaderName, String); 4] {
    let modified = UNIX_EPOCH + Duration::from_secs(document.modified.as_secs());
    [
        (header::ETAG, body.etag.clone()),
        (header::LAST_MODIFIED, httpdate::fmt_http_date(modified)),
        (header::CACHE_CONTROL, FOR_A_MINUTE.to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ]
}

fn nothing_published() -> Refusal {
    let message =
        "No feeds are published here yet. The operator makes them with `portolan feeds build`.";
    Refusal(Failure::new("dependency_unavailable").message(message).after_s(AGAIN_S))
}
