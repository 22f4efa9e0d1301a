//! `GET /published/{capability}/{secret}` serves a text of a capability to programs that have no token, such as
//! calendars. The secret in the address is the permission.
//!
//! The answer to an unknown address, to one that was turned off and to one of a capability without such a text is the
//! same, and no refusal has a text: it could say which of them it is.

use crate::{
    App,
    address::ClientAddress,
    conditional::{matches_any_tag, parse_if_none_match},
};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_catalog::PublishedText;
use portolan_pipeline::Operation;
use portolan_vocabulary::{Digest, ErrorKind, Failure};
use serde_json::json;
use std::sync::Arc;

/// Programs read again after so long. The text is about a person, so no shared cache keeps it.
const CACHING: &str = "private, max-age=900";
/// A browser that opens the address can run nothing in it, and no page can frame it.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// The numbers of letters that a secret has.
const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 32..=128;
/// The beginning of secrets of test mode.
const TEST_MODE: &str = "test-";
/// The number of digits of a digest in an entity tag.
const TAG_DIGITS: usize = 32;

/// Serves the text of an address.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    named: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((capability, secret))) = named else { return empty(StatusCode::NOT_FOUND) };
    if !is_secret(&secret) {
        return empty(StatusCode::NOT_FOUND);
    }
    let digest = Digest::of(secret.as_bytes()).hex();
    if let Err(failure) = app.host.rates.count_published(address, &digest) {
        return refused(&failure);
    }
    match read(&app, capability, secret).await {
        Ok(Some((published, text))) => respond(&headers, &published, text),
        Ok(None) => empty(StatusCode::NOT_FOUND),
        Err(failure) => refused(&failure),
    }
}

/// Returns the text with how it is served; `None` if there is none under this address.
async fn read(
    app: &App,
    capability: String,
    secret: String,
) -> Result<Option<(PublishedText, String)>, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let Ok(found) = snapshot.find(&capability, app.host.clock.now()) else { return Ok(None) };
    let Some(published) = found.published.clone() else { return Ok(None) };
    let operation = Operation {
        capability,
        action: published.action.clone(),
        test_mode: secret.starts_with(TEST_MODE),
        input: json!({ "secret": secret }),
    };
    let answer = app.host.read_published(&operation).await?;
    let text = answer.get("text").and_then(|text| text.as_str()).map(str::to_owned);
    Ok(text.map(|text| (published, text)))
}

fn is_secret(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    SECRET_LENGTHS.contains(&text.len()) && text.bytes().all(is_letter)
}

fn respond(headers: &HeaderMap, published: &PublishedText, text: String) -> Response {
    let digest = Digest::of(text.as_bytes()).hex();
    // The tag is weak because the compression of the response does not change it.
    let etag = format!("W/\"{}\"", digest.get(..TAG_DIGITS).unwrap_or(&digest));
    let is_known = parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &etag));
    let tag = HeaderValue::from_str(&etag).ok().map(|etag| [(header::ETAG, etag)]);
    let shown = format!("attachment; filename=\"{}\"", published.file_name);
    let common = (
        [(header::CACHE_CONTROL, CACHING), (header::CONTENT_SECURITY_POLICY, POLICY)],
        protecting(),
        tag,
    );
    match is_known {
        true => (StatusCode::NOT_MODIFIED, common, ()).into_response(),
        false => {
            let content = [
                (header::CONTENT_TYPE, published.content_type.to_owned()),
                (header::CONTENT_DISPOSITION, shown),
            ];
            (StatusCode::OK, common, content, text).into_response()
        }
    }
}

/// The headers of every response: nothing is guessed, and the address is given to nobody.
fn protecting() -> [(HeaderName, &'static str); 3] {
    [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ]
}

fn empty(status: StatusCode) -> Response {
    (status, protecting(), [(header::CACHE_CONTROL, "no-store")]).into_response()
}

/// Answers a failure by its status alone. What the component refuses is not found; what the host cannot do now may
/// succeed later.
fn refused(failure: &Failure) -> Response {
    let status = match failure.kind {
        ErrorKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Internal
        | ErrorKind::Upstream
        | ErrorKind::Unavailable
        | ErrorKind::OutOfTime => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::NOT_FOUND,
    };
    let mut response = empty(status);
    let seconds = failure.next.as_ref().and_then(|next| next.get("after_s")?.as_u64());
    if let Some(seconds) = seconds.filter(|_| status != StatusCode::NOT_FOUND) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets_are_long_and_of_letters_that_need_no_escape() {
        assert!(is_secret(&"a".repeat(32)) && is_secret(&format!("test-{}", "0_".repeat(20))));
        for text in [&"a".repeat(31), &"a".repeat(129), &format!("{} ", "a".repeat(40)), ""] {
            assert!(!is_secret(text), "{text}");
        }
    }
}
