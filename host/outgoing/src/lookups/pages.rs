//! Pages: read over TLS from public addresses, and from those that the operator allows.

use crate::{
    lookups::{
        error::{LookupError, MAX_ANSWER_BYTES},
        guarded::{GuardedClient, media_type},
    },
    read_beginning, request_error,
};
use reqwest::{
    Client, Response,
    header::ACCEPT,
    redirect::{Attempt, Policy},
};
use url::Url;

/// The maximum number of redirects of a page, within its host.
const MAX_REDIRECTS: usize = 3;
/// The media types that a page may have, besides those that end in `+json`.
const MEDIA_TYPES: [&str; 3] = ["text/plain", "text/html", "application/json"];

#[derive(Debug)]
pub(super) struct Pages {
    client: Client,
    port: u16,
}

impl Pages {
    /// Makes the client for pages, which are read from this port.
    pub(super) fn new(guarded: &GuardedClient<'_>, port: u16) -> Result<Self, reqwest::Error> {
        let client = guarded.build(Policy::custom(follow_within_host))?;
        Ok(Self { client, port })
    }

    /// Reads the page at an address, with the header `traceparent`, if there is one.
    pub(super) async fn read(
        &self,
        address: &str,
        traceparent: Option<String>,
    ) -> Result<String, LookupError> {
        let mut url = Url::parse(address).map_err(|_| LookupError::Unreachable)?;
        // Every https address can have a port.
        let _set = url.set_port(Some(self.port));
        let mut request = self.client.get(url).header(ACCEPT, MEDIA_TYPES.join(", "));
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        let response = request.send().await.map_err(|error| request_error(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(LookupError::OtherHost);
        }
        if !status.is_success() {
            return Err(LookupError::Status(status.as_u16()));
        }
        if !is_text(&response) {
            return Err(LookupError::NotText);
        }
        let body = read_beginning(response, MAX_ANSWER_BYTES + 1).await?;
        match body.len() > MAX_ANSWER_BYTES {
            true => Err(LookupError::PageTooLarge),
            false => Ok(String::from_utf8_lossy(&body).into_owned()),
        }
    }
}

/// Follows a redirect within the host. Any other redirect is the answer, and so is one after
/// `MAX_REDIRECTS`.
fn follow_within_host(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let first = attempt.previous().first();
    let is_within_host = first.is_some_and(|first| is_same_site(first, attempt.url()));
    match is_within_host && attempt.previous().len() <= MAX_REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// Returns whether two addresses have the same host and port over TLS, with `www.` or without.
fn is_same_site(one: &Url, other: &Url) -> bool {
    let site = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host).to_owned();
        (url.scheme().to_owned(), host, url.port_or_known_default())
    };
    site(one) == site(other)
}

fn is_text(response: &Response) -> bool {
    let media_type = media_type(response);
    MEDIA_TYPES.contains(&media_type.as_str()) || media_type.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::is_same_site;

    #[test]
    fn a_page_may_move_within_its_host_only() {
        let same = |other: &str| {
            is_same_site(&"https://copperleaf.example/a".parse().unwrap(), &other.parse().unwrap())
        };
        assert!(same("https://copperleaf.example/b"));
        assert!(same("https://www.copperleaf.example:443/b"));
        for other in [
            "http://copperleaf.example/a",
            "https://copperleaf.example:8443/a",
            "https://copperleaf.example.evil.example/a",
            "https://blog.copperleaf.example/a",
            "https://127.0.0.1/a",
        ] {
            assert!(!same(other), "{other}");
        }
    }
}
