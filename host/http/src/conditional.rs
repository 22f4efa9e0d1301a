//! Conditional requests: whether a client already has the current document (RFC 9110, section 13.1).

use axum::http::{HeaderMap, header};
use portolan_vocabulary::Timestamp;
use std::time::UNIX_EPOCH;

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
