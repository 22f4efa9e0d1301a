//! Files that change: read over TLS with a condition, so that an unchanged file is not sent again.

use crate::{
    lookups::{
        error::{LookupError, MAX_FILE_BYTES},
        file_request::{FileRequest, is_file_address, is_validator},
        guarded::{GuardedClient, media_type},
    },
    read_beginning, request_error, retry_after_s,
};
use portolan_vocabulary::Timestamp;
use reqwest::{
    Client, Response,
    header::{ACCEPT, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH},
    header::{LAST_MODIFIED, LOCATION, USER_AGENT},
    redirect::Policy,
};
use std::time::Duration;
use url::Url;

/// The maximum number of redirects, each of which may lead to another host.
const MAX_REDIRECTS: usize = 3;
/// The time for all requests of a look-up together: less than a node's lease of the look-up.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The media types that say nothing about a text. Servers give them to calendars, so the component decides by the
/// content.
const GENERIC: [&str; 2] = ["text/plain", "application/octet-stream"];
/// The name by which servers know whose requests these are.
const AGENT: &str = "Portolan";

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAnswer {
    Read {
        text: String,
        validators: Validators,
        moved_to: Option<String>,
    },
    /// The file is the one that the component has.
    Unchanged {
        validators: Validators,
        moved_to: Option<String>,
    },
    Failed {
        error: LookupError,
        /// The seconds for which the server asks to wait.
        retry_after_s: Option<u64>,
    },
}

/// The parts of an answer by which the next request asks for a newer file (RFC 9110, section 8.8).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

#[derive(Debug)]
pub(super) struct Files {
    client: Client,
    port: u16,
}

impl Files {
    /// Makes the client for files, which are read from this port.
    pub(super) fn new(guarded: &GuardedClient<'_>, port: u16) -> Result<Self, reqwest::Error> {
        Ok(Self { client: guarded.build(Policy::none())?, port })
    }

    /// Reads a file, with the header `traceparent` if there is one. The server is asked once.
    pub(super) async fn read(
        &self,
        file: &FileRequest,
        traceparent: Option<String>,
        now: Timestamp,
    ) -> FileAnswer {
        let failed = |error| FileAnswer::Failed { error, retry_after_s: None };
        match tokio::time::timeout(TIMEOUT, self.follow(file, traceparent, now)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => failed(error),
            Err(_elapsed) => failed(LookupError::Unreachable),
        }
    }

    /// Follows redirects to the file. It has moved as far as the redirects from its address on are permanent.
    async fn follow(
        &self,
        file: &FileRequest,
        traceparent: Option<String>,
        now: Timestamp,
    ) -> Result<FileAnswer, LookupError> {
        let mut url = Url::parse(&file.url).map_err(|_| LookupError::Unreachable)?;
        let (mut is_permanent, mut moved_to) = (true, None);
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&url, file, traceparent.as_deref()).await?;
            match response.status().as_u16() {
                status @ (301 | 302 | 303 | 307 | 308) => {
                    url = redirected(&url, response.headers())?;
                    is_permanent &= matches!(status, 301 | 308);
                    if is_permanent {
                        moved_to = Some(url.to_string());
                    }
                }
                304 if file.is_conditional() => {
                    let validators = Validators::of(response.headers());
                    return Ok(FileAnswer::Unchanged { validators, moved_to });
                }
                200..=299 => return content(response, file, moved_to).await,
                status => {
                    let retry_after_s = retry_after_s(response.headers(), now);
                    let error = LookupError::Status(status);
                    return Ok(FileAnswer::Failed { error, retry_after_s });
                }
            }
        }
        Err(LookupError::TooManyRedirects)
    }

    async fn request(
        &self,
        url: &Url,
        file: &FileRequest,
        traceparent: Option<&str>,
    ) -> Result<Response, LookupError> {
        let mut url = url.clone();
        // Every https address can have a port.
        let _set = url.set_port(Some(self.port));
        let accepted = format!("{}, */*;q=0.1", file.media_types.join(", "));
        let headers = [
            (ACCEPT, Some(accepted.as_str())),
            (USER_AGENT, Some(AGENT)),
            (IF_NONE_MATCH, file.etag.as_deref()),
            (IF_MODIFIED_SINCE, file.last_modified.as_deref()),
            (HeaderName::from_static("traceparent"), traceparent),
        ];
        let mut request = self.client.get(url);
        for (name, value) in headers {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        Ok(request.send().await.map_err(|error| request_error(&error))?)
    }
}

impl Validators {
    /// Returns the validators of an answer, without those that a request may not have.
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.filter(|value| is_validator(value)).map(str::to_owned)
        };
        Self { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
    }
}

/// Returns where a redirect leads: to an address by which a file may be requested, without a fragment.
fn redirected(from: &Url, headers: &HeaderMap) -> Result<Url, LookupError> {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let mut url =
        location.and_then(|location| from.join(location).ok()).ok_or(LookupError::BadRedirect)?;
    url.set_fragment(None);
    if is_file_address(url.as_str()) { Ok(url) } else { Err(LookupError::BadRedirect) }
}

async fn content(
    response: Response,
    file: &FileRequest,
    moved_to: Option<String>,
) -> Result<FileAnswer, LookupError> {
    let declared = media_type(&response);
    if !is_of_type(&declared, &file.media_types) {
        return Err(LookupError::OtherType);
    }
    let validators = Validators::of(response.headers());
    let body = read_beginning(response, MAX_FILE_BYTES + 1).await?;
    if body.len() > MAX_FILE_BYTES {
        return Err(LookupError::FileTooLarge);
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(FileAnswer::Read { text, validators, moved_to })
}

/// Returns whether a file of this declared type may be one of these.
fn is_of_type(declared: &str, media_types: &[String]) -> bool {
    declared.is_empty()
        || GENERIC.contains(&declared)
        || media_types.iter().any(|media_type| media_type.eq_ignore_ascii_case(declared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookups::error::FILE_ADDRESS_BYTES;

    fn to(location: &str) -> Result<String, LookupError> {
        let from = "https://calendar.example/a/basic.ics?key=1".parse().unwrap();
        let headers = HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
        redirected(&from, &headers).map(String::from)
    }

    #[test]
    fn redirects_lead_to_https_addresses_of_named_hosts() {
        for (location, url) in [
            ("/b.ics", "https://calendar.example/b.ics"),
            ("https://other.example/c.ics#top", "https://other.example/c.ics"),
            ("https://other.example:443/c.ics", "https://other.example/c.ics"),
        ] {
            assert_eq!(to(location), Ok(url.to_owned()), "{location}");
        }
        for location in [
            "http://other.example/",
            "https://other.example:8443/",
            "https://127.0.0.1/",
            "https://ada@other.example/",
            "webcal://other.example/",
            &format!("/{}", "a".repeat(FILE_ADDRESS_BYTES)),
        ] {
            assert_eq!(to(location), Err(LookupError::BadRedirect), "{location}");
        }
        let from = "https://calendar.example/".parse().unwrap();
        assert_eq!(redirected(&from, &HeaderMap::new()), Err(LookupError::BadRedirect));
    }

    #[test]
    fn a_type_that_says_nothing_is_any_type() {
        let calendars = ["text/calendar".to_owned()];
        for declared in ["text/calendar", "", "text/plain", "application/octet-stream"] {
            assert!(is_of_type(declared, &calendars), "{declared}");
        }
        assert!(!is_of_type("text/html", &calendars));
    }

    #[test]
    fn validators_that_no_request_may_have_are_not_kept() {
        for other in ["x".repeat(257), "x\ty".to_owned()] {
            let headers = HeaderMap::from_iter([
                (ETAG, "\"a\"".parse().unwrap()),
                (LAST_MODIFIED, other.parse().unwrap()),
            ]);
            let expected = Validators { etag: Some("\"a\"".to_owned()), last_modified: None };
            assert_eq!(Validators::of(&headers), expected, "{other:?}");
        }
    }
}
