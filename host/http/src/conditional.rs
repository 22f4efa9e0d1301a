//! Conditional requests: whether a client already has the current document (RFC 9110, section 13.1).

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_vocabulary::{Digest, Timestamp};
use std::time::UNIX_EPOCH;

/// The number of digits of a digest in an entity tag.
const TAG_DIGITS: usize = 32;
/// The same time as for the feeds, which are built once an hour.
const CACHE_ONE_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// Returns the response with a text that depends on `Accept`, with its entity tag, or 304 if the client has the
/// same text.
pub(super) fn tagged(
    headers: &HeaderMap,
    text: String,
    full: impl FnOnce(String) -> Response,
) -> Response {
    let digest = Digest::of(text.as_bytes()).hex();
    // The tag is weak because the compression of the response does not change it.
    let etag = format!("W/\"{}\"", digest.get(..TAG_DIGITS).unwrap_or(&digest));
    let is_known = parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &etag));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => full(text),
    };
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    headers.insert(header::CACHE_CONTROL, CACHE_ONE_MINUTE);
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the entity tags of `If-None-Match`, if the client has sent it.
pub(super) fn parse_if_none_match(headers: &HeaderMap) -> Option<Vec<&str>> {
    let mut values = headers.get_all(header::IF_NONE_MATCH).iter().peekable();
    values.peek()?;
    let lists = values.filter_map(|value| value.to_str().ok());
    Some(lists.flat_map(|list| list.split(',')).map(str::trim).collect())
}

/// Returns whether one of the tags matches, by weak comparison (RFC 9110, section 8.8.3.2).
pub(super) fn matches_any_tag(tags: &[&str], etag: &str) -> bool {
    tags.iter().any(|tag| *tag == "*" || opaque_tag(tag) == opaque_tag(etag))
}

fn opaque_tag(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Returns whether the client's copy is at least as new as `modified`, by `If-Modified-Since`. The
/// caller must have found no `If-None-Match`, which has precedence.
pub(super) fn is_unmodified_since(headers: &HeaderMap, modified: Timestamp) -> bool {
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(|text| httpdate::parse_http_date(text).ok());
    let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.is_some_and(|since| modified.as_secs() <= since.as_secs())
}
