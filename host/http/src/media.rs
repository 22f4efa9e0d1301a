//! `PUT /media/uploads/{token}` receives a file, and `GET /media/{digest}` serves one.
//!
//! Files are bytes that somebody has sent: nothing here decodes them, and their responses let no browser run them.

use crate::{
    App,
    body::is_too_slow,
    byte_range::{Part, asked, set_range},
    capabilities::AsItIs,
    chunks::body_of,
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::{self, Refusal},
};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{StreamExt as _, stream};
use portolan_blobs::{BlobError, Blobs, Served, SignedAddress};
use serde::Deserialize;
use serde_json::json;
use std::{io, sync::Arc};

/// For a public file. A deleted file can be in a cache for so long, so it is a day and not a year.
const CACHE_ONE_DAY: &str = "public, max-age=86400, immutable";
/// A browser that opens a file as a page can run nothing in it, and no page can frame it.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// The parameters of the address of a file: its blob and, of a private one, the signed part.
#[derive(Debug, Deserialize)]
pub(super) struct Signed {
    blob: Option<String>,
    until: Option<u64>,
    key: Option<String>,
}

/// Receives the file of an upload, whose body is the file.
pub(super) async fn upload(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    sent: Body,
) -> Result<Response, Refusal> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse().ok());
    let mut incoming = app.host.blobs.receive(&token, length).await?;
    let mut sent = sent.into_data_stream();
    while let Some(bytes) = sent.next().await {
        incoming.write(&bytes.map_err(|error| failed(&error))?).await?;
    }
    let arrived = incoming.finish().await?;
    let stored = json!({ "sha256": arrived.digest, "bytes": arrived.bytes });
    Ok((StatusCode::CREATED, Json(stored)).into_response())
}

/// Returns why the rest of a body is missing.
fn failed(error: &axum::Error) -> BlobError {
    if is_too_slow(error) { BlobError::TooSlow } else { BlobError::Interrupted }
}

/// Serves a file that everybody may read, or one whose address is signed.
pub(super) async fn serve(
    State(app): State<Arc<App>>,
    Path(digest): Path<String>,
    signed: Result<Query<Signed>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Ok(Query(Signed { blob, until, key })) = signed else {
        return Err(refusal::no_such_path().await);
    };
    let (blob, signed) = match (&blob, until, &key) {
        (Some(blob), None, None) => (blob, None),
        (Some(blob), Some(until), Some(key)) => (blob, Some(SignedAddress { until, key })),
        _ => return Err(refusal::no_such_path().await),
    };
    let Some(served) = app.host.blobs.served((&digest, blob), signed).await? else {
        return Err(refusal::no_such_path().await);
    };
    let etag = format!("\"{digest}\"");
    let caching = match served.until {
        None => CACHE_ONE_DAY.to_owned(),
        Some(until) => {
            let seconds = until.as_secs().saturating_sub(app.host.clock.now().as_secs());
            format!("private, max-age={seconds}, immutable")
        }
    };
    let shown = if served.is_shown { "inline" } else { "attachment" };
    let common = [
        (header::ETAG, etag.clone()),
        (header::CACHE_CONTROL, caching),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CONTENT_DISPOSITION, shown.to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    if parse_if_none_match(&headers).is_some_and(|tags| matches_any_tag(&tags, &etag)) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let (size, media_type) = (served.bytes, HeaderValue::from_static(served.media_type));
    let (status, start, length) = match asked(&headers, &etag, size) {
        Part::Whole => (StatusCode::OK, 0, size),
        Part::Range { start, length } => (StatusCode::PARTIAL_CONTENT, start, length),
        Part::None => {
            let range = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, common, range).into_response());
        }
    };
    let Some(bytes) = body(Arc::clone(&app.host.blobs), served, start, length).await? else {
        return Err(refusal::no_such_path().await);
    };
    let mut response = (status, common, Extension(AsItIs), bytes).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    // Pages of other origins may show the picture.
    let resource_policy = HeaderName::from_static("cross-origin-resource-policy");
    response.headers_mut().insert(resource_policy, HeaderValue::from_static("cross-origin"));
    set_range(&mut response, (start, length), size);
    Ok(response)
}

/// Returns `length` bytes of a file from `start` on as a body. The first of them are read before the response begins;
/// `None` if the file is missing.
async fn body(
    blobs: Arc<Blobs>,
    served: Served,
    start: u64,
    length: u64,
) -> Result<Option<Body>, BlobError> {
    let most = blobs.chunk_bytes();
    let first = blobs.read_served(&served, start, length.min(most)).await?;
    let Some(first) = first else { return Ok(None) };
    let end = start.saturating_add(length);
    let next = start.saturating_add(first.len() as u64);
    let rest = stream::unfold((blobs, served, next), move |(blobs, served, next)| async move {
        let left = end.saturating_sub(next);
        if left == 0 {
            return None;
        }
        let chunk = match blobs.read_served(&served, next, left.min(most)).await {
            Ok(Some(chunk)) if !chunk.is_empty() => Ok(chunk),
            // The file has ended before its length: it was changed on the disk.
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(io::Error::other(error)),
        };
        let read = chunk.as_ref().map_or(left, |chunk| chunk.len() as u64);
        Some((chunk, (blobs, served, next.saturating_add(read))))
    });
    let first = stream::once(async { Ok::<_, io::Error>(first) });
    Ok(Some(body_of(first.chain(rest))))
}
