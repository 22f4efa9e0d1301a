//! The page that a browser gets in place of the envelope of a failure. Status and headers stay as they are.

use crate::{
    media_type::{AcceptedTypes, HTML, JSON},
    page::{FormTargets, page},
    refusal::Refused,
    request_id,
};
use askama::Template;
use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure};

/// The time from which a wait is told in minutes.
const MINUTES_FROM_S: u64 = 120;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    words: Words,
    /// The status, for people who tell others about the page.
    status: u16,
    failure: &'a Failure,
    /// Whether the page of the common error codes has its code.
    is_common: bool,
    /// How long to wait before the next try.
    wait: Option<String>,
    request_id: &'a str,
}

/// The texts of a page about a failure of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words {
    title: &'static str,
    advice: &'static str,
}

/// Returns whether a client prefers pages to JSON.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    AcceptedTypes::of(headers).best(&[JSON, HTML]) == Some(HTML)
}

/// Replaces the envelope of a failure by a page if the client wants one. Other responses stay as they are.
pub(super) fn negotiate(mut response: Response, wants_page: bool) -> Response {
    let Some(Refused(failure)) = response.extensions_mut().remove() else { return response };
    if !response.headers().get_all(header::VARY).iter().any(|value| value == "accept") {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    }
    if !wants_page {
        return response;
    }
    let page = render(&failure, response.status(), response.headers());
    let (parts, body) = page.into_parts();
    let headers = response.headers_mut();
    // They are about the envelope.
    headers.remove(header::CONTENT_ENCODING);
    headers.remove(header::CONTENT_LENGTH);
    headers.extend(parts.headers);
    *response.body_mut() = body;
    response
}

fn render(failure: &Failure, status: StatusCode, headers: &HeaderMap) -> Response {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let shown = ErrorPage {
        words: words(failure.kind),
        status: status.as_u16(),
        failure,
        is_common: ErrorCode::from_name(&failure.error_code).is_some(),
        wait: text(header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok()).map(duration),
        request_id: text(request_id::HEADER).unwrap_or_default(),
    };
    page(status, &shown, FormTargets::ThisHost)
}

/// Returns a time for people to read.
fn duration(seconds: u64) -> String {
    match seconds {
        0 | 1 => "one second".to_owned(),
        ..MINUTES_FROM_S => format!("{seconds} seconds"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}

/// Returns what happened and what to do next, in plain words.
fn words(kind: ErrorKind) -> Words {
    let (title, advice) = match kind {
        ErrorKind::Invalid => (
            "This cannot be read",
            "Something in the address or in the form is not as it should be. Check the address, or go back and try again.",
        ),
        ErrorKind::Unauthenticated => (
            "This address is for agents",
            "It answers programs that send an access token, which browsers do not. The guide says how an agent gets one.",
        ),
        ErrorKind::PaymentRequired => (
            "There are not enough credits",
            "What was asked for costs credits, and the account has too few of them now.",
        ),
        ErrorKind::Forbidden => (
            "This is not allowed",
            "Whoever asks may not do this here. The message below says why.",
        ),
        ErrorKind::NotFound => (
            "There is nothing here",
            "Check the address for typing errors. If you came by a link, it may be out of date.",
        ),
        ErrorKind::MethodNotAllowed => (
            "This address is for agents",
            "It answers requests that programs send, and not those of a browser that opens it.",
        ),
        ErrorKind::Conflict => {
            ("Something else has changed", "Go back, load the page again, and repeat what you did.")
        }
        ErrorKind::Gone => (
            "This is no longer here",
            "It was removed, or it has expired. The address will not work again.",
        ),
        ErrorKind::TooLarge => ("This is too large", "Go back, and send less at once."),
        ErrorKind::UnsupportedMedia => {
            ("This cannot be read", "What was sent has a format that this address does not read.")
        }
        ErrorKind::Unprocessable => (
            "This cannot be done",
            "The request can be read, but what it asks for is not possible. The message below says why.",
        ),
        ErrorKind::TooMany => (
            "Too many requests",
            "More requests came from your network address than are answered at once. Wait, and load this page again.",
        ),
        ErrorKind::Internal => (
            "Something went wrong here",
            "It is not your fault. Try again; if it stays so, tell the operator of this host the number of the request below.",
        ),
        ErrorKind::Upstream | ErrorKind::Unavailable => (
            "This is not available now",
            "Something that this page needs does not answer. Try again later.",
        ),
        ErrorKind::OutOfTime => (
            "This took too long",
            "It was stopped before it was finished, and nothing was changed. Try again later.",
        ),
    };
    Words { title, advice }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;
    use axum::{body::to_bytes, response::IntoResponse as _};

    async fn text(response: Response) -> String {
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn each_failure_is_a_page_with_its_status_for_browsers_and_the_envelope_for_others() {
        for code in ErrorCode::ALL {
            let failure = Failure::new(*code);
            let envelope = serde_json::to_string(&failure).unwrap();
            let refused = || Refusal(failure.clone()).into_response();
            let page = negotiate(refused(), true);
            assert_eq!(page.status().as_u16(), failure.kind.http_status());
            assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
            assert_eq!(page.headers()[header::VARY], "accept");
            let page = text(page).await;
            assert!(page.contains("href=\"/\"") && page.contains(code.name()), "{page}");
            let other = negotiate(refused(), false);
            assert_eq!(other.headers()[header::CONTENT_TYPE], "application/json");
            assert_eq!(other.headers()[header::VARY], "accept");
            assert_eq!(text(other).await, envelope);
        }
    }

    #[tokio::test]
    async fn a_page_keeps_headers_and_escapes_the_message() {
        let failure = Failure::new(ErrorCode::RateLimited);
        let failure = failure.message("<script>alert(1)</script>").after_s(150);
        let page = negotiate(Refusal(failure).into_response(), true);
        assert_eq!(page.headers()[header::RETRY_AFTER], "150");
        let page = text(page).await;
        assert!(page.contains("3 minutes") && page.contains("&#60;script&#62;"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }

    #[tokio::test]
    async fn other_responses_stay_as_they_are() {
        let made = (StatusCode::NOT_FOUND, "none").into_response();
        let answered = negotiate(made, true);
        assert!(!answered.headers().contains_key(header::VARY));
        assert_eq!(text(answered).await, "none");
    }

    #[test]
    fn a_wait_is_told_in_words() {
        let told = [1, 30, 119, 120, 121].map(duration);
        assert_eq!(told, ["one second", "30 seconds", "119 seconds", "2 minutes", "3 minutes"]);
    }
}
