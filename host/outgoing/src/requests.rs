//! Requests over HTTP to addresses that others name.

use ipnet::IpNet;
use portolan_reach::{Reach, Refused};
use portolan_vocabulary::Timestamp;
use reqwest::{
    Certificate, Client, Response,
    header::{ACCEPT, HeaderMap, RETRY_AFTER},
    redirect::Policy,
};
use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use url::Url;

/// The time-out of a request, including the reading of its response. `post` has a time-out of its
/// own.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the port is that of the operator's address")]
    OperatorPort,
    #[error("the server does not answer")]
    Unreachable,
    #[error("the server answers {0}")]
    Status(u16),
    #[error("the answer is not JSON")]
    NotJson,
    #[error("the answer is too large")]
    TooLarge,
}

/// The client for addresses that others name.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The client for TLS, to public and allowed addresses.
    secure: Client,
    /// The client without TLS, to allowed addresses only.
    plain: Client,
    reach: Reach,
    operator_port: u16,
}

/// The answer to a request.
#[derive(Debug)]
pub struct OutgoingResponse {
    pub status: u16,
    retry_after: Option<RetryAfter>,
    /// The beginning of the body.
    pub body: Vec<u8>,
}

/// The header `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryAfter {
    Seconds(u64),
    At(Timestamp),
}

impl RetryAfter {
    fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(Self::parse)
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        text.parse().map(Self::Seconds).ok().or_else(|| {
            let at = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(Self::At(Timestamp::from_millis(at.as_secs() * 1000)))
        })
    }

    fn seconds(self, now: Timestamp) -> u64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::At(at) => at.as_secs().saturating_sub(now.as_secs()),
        }
    }
}

impl OutgoingResponse {
    /// Returns the number of seconds from now for which the server asks to wait, if it does.
    pub fn retry_after_s(&self, now: Timestamp) -> Option<u64> {
        self.retry_after.map(|retry_after| retry_after.seconds(now))
    }
}

impl Outgoing {
    /// Makes the clients. `allowed` are ranges of addresses that may be reached although they are not public,
    /// and without TLS. `trusted` are certificate authorities in addition to those of the system.
    /// `operator_port` is the port of this host's address for its operator.
    pub fn new(
        allowed: &[IpNet],
        trusted: &[Certificate],
        operator_port: u16,
    ) -> Result<Self, reqwest::Error> {
        // An error means that a crypto provider is installed already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = |secure: bool| {
            Client::builder()
                .timeout(TIMEOUT)
                .redirect(Policy::none())
                .no_proxy()
                .https_only(secure)
                .tls_certs_merge(trusted.iter().cloned())
                .dns_resolver(Arc::new(Reach::new(allowed, secure)))
                .build()
        };
        let reach = Reach::new(allowed, true);
        Ok(Self { secure: client(true)?, plain: client(false)?, reach, operator_port })
    }

    /// Returns the address in its normal form, if nothing in it forbids a request. The name is resolved and
    /// checked when the connection is made.
    pub fn check(&self, address: &str) -> Result<Url, OutgoingError> {
        let url = Url::parse(address).map_err(|_| Refused::NotAnAddress)?;
        self.reach.check(&url)?;
        // The operator's address has no TLS. Whether a name leads there is not known before it is resolved,
        // so the port is refused for every name.
        if url.scheme() == "http" && url.port_or_known_default() == Some(self.operator_port) {
            return Err(OutgoingError::OperatorPort);
        }
        Ok(url)
    }

    fn client(&self, url: &Url) -> &Client {
        if url.scheme() == "http" { &self.plain } else { &self.secure }
    }

    /// Gets the JSON at an `https` address. Fails if the answer is not a success, is not JSON, or
    /// has more than `max_bytes`.
    pub async fn get_json(
        &self,
        address: &str,
        max_bytes: usize,
    ) -> Result<Vec<u8>, OutgoingError> {
        let url = self.check(address)?;
        if url.scheme() != "https" {
            return Err(Refused::NotHttps.into());
        }
        let request = self.secure.get(url).header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| request_error(&error))?;
        if !response.status().is_success() {
            return Err(OutgoingError::Status(response.status().as_u16()));
        }
        let body = read_beginning(response, max_bytes + 1).await?;
        if body.len() > max_bytes {
            return Err(OutgoingError::TooLarge);
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(body),
            Err(_) => Err(OutgoingError::NotJson),
        }
    }

    /// Posts a body, and reads at most `max_bytes` of the answer. A redirect is an answer like any other.
    pub async fn post(
        &self,
        address: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<OutgoingResponse, OutgoingError> {
        let url = self.check(address)?;
        let request = self.client(&url).post(url).headers(headers).body(body).timeout(timeout);
        let response = request.send().await.map_err(|error| request_error(&error))?;
        Ok(OutgoingResponse {
            status: response.status().as_u16(),
            retry_after: RetryAfter::of(response.headers()),
            // The status is returned even if the body cannot be read.
            body: read_beginning(response, max_bytes).await.unwrap_or_default(),
        })
    }
}

/// Returns the number of seconds from now for which these headers of a response ask to wait, if they do.
pub(crate) fn retry_after_s(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    RetryAfter::of(headers).map(|retry_after| retry_after.seconds(now))
}

/// Reads at most `max_bytes` of the body of a response.
pub(crate) async fn read_beginning(
    mut response: Response,
    max_bytes: usize,
) -> Result<Vec<u8>, OutgoingError> {
    let mut body = Vec::new();
    while body.len() < max_bytes
        && let Some(part) = response.chunk().await.map_err(|_| OutgoingError::Unreachable)?
    {
        body.extend_from_slice(part.get(..max_bytes - body.len()).unwrap_or(&part));
    }
    Ok(body)
}

/// Returns why a request failed: the refusal of an address, if that is the cause, or else
/// `Unreachable`.
pub(crate) fn request_error(error: &reqwest::Error) -> OutgoingError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return OutgoingError::Refused(*refused);
        }
        cause = error.source();
    }
    OutgoingError::Unreachable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_a_request() {
        let outgoing = Outgoing::new(&[], &[], 8081).unwrap();
        assert_eq!(outgoing.check("https://127.1/"), Err(Refused::NotPublic.into()));
        assert_eq!(outgoing.check("http://hooks.example/"), Err(Refused::NotHttps.into()));
        assert_eq!(outgoing.check("https:"), Err(Refused::NotAnAddress.into()));
        assert!(outgoing.check("https://hooks.example:8443/in?from=portolan").is_ok());
    }

    #[test]
    fn the_operators_address_is_refused_whatever_is_allowed() {
        let allowed = ["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()];
        let outgoing = Outgoing::new(&allowed, &[], 8081).unwrap();
        for address in [
            "http://127.0.0.1:8081/",
            "http://[::1]:8081/",
            "http://host.internal:8081/keys/rotate",
        ] {
            assert_eq!(outgoing.check(address), Err(OutgoingError::OperatorPort), "{address}");
        }
        assert!(outgoing.check("http://127.0.0.1:8080/").is_ok());
        assert!(outgoing.check("https://hooks.example:8081/").is_ok());
    }

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp::from_millis(1_445_412_400_000);
        let seconds = |text: &str| Some(RetryAfter::parse(text)?.seconds(now));
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(80));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:26:00 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
    }
}
