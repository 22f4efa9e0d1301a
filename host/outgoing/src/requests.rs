//! Requests to addresses that others name: only to those that may be reached.

use ipnet::IpNet;
use portolan_reach::{Reach, Refused};
use portolan_vocabulary::Timestamp;
use reqwest::{
    Client, Response,
    header::{ACCEPT, HeaderMap, RETRY_AFTER},
    redirect::Policy,
};
use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use url::Url;

/// For one request, its answer included.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the server does not answer")]
    Away,
    #[error("the server answers {0}")]
    Status(u16),
    #[error("the answer is not JSON")]
    NotJson,
    #[error("the answer is too large")]
    TooLarge,
}

/// Asks servers that others name.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Over TLS, to public addresses and to those that are allowed.
    secure: Client,
    /// In the clear, to those that are allowed and to no others.
    plain: Client,
    reach: Reach,
}

/// How a server answers what it was sent.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    /// Of a header `Retry-After`: seconds from now.
    pub retry_after_s: Option<u64>,
    /// How the body begins.
    pub body: Vec<u8>,
}

impl Outgoing {
    /// `allowed` are ranges of addresses that may be asked although they are not public, and without
    /// TLS.
    pub fn new(allowed: &[IpNet]) -> Result<Self, reqwest::Error> {
        // Another part of the process may have chosen one already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = |secure: bool| {
            Client::builder()
                .timeout(PATIENCE)
                .redirect(Policy::none())
                .no_proxy()
                .https_only(secure)
                .dns_resolver(Arc::new(Reach::new(allowed, secure)))
                .build()
        };
        let reach = Reach::new(allowed, true);
        Ok(Self { secure: client(true)?, plain: client(false)?, reach })
    }

    /// The address in its normal form, if it may be asked as far as it shows.
    pub fn check(&self, address: &str) -> Result<Url, OutgoingError> {
        let url = Url::parse(address).map_err(|_| Refused::NotAnAddress)?;
        self.reach.check(&url)?;
        Ok(url)
    }

    fn client(&self, url: &Url) -> &Client {
        if url.scheme() == "http" { &self.plain } else { &self.secure }
    }

    /// The JSON at an address that begins with https, at most so many bytes of it.
    pub async fn get_json(&self, address: &str, most: usize) -> Result<Vec<u8>, OutgoingError> {
        let url = self.check(address)?;
        if url.scheme() != "https" {
            return Err(Refused::NotHttps.into());
        }
        let request = self.secure.get(url).header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| reason(&error))?;
        if !response.status().is_success() {
            return Err(OutgoingError::Status(response.status().as_u16()));
        }
        let body = beginning(response, most + 1).await?;
        if body.len() > most {
            return Err(OutgoingError::TooLarge);
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(body),
            Err(_) => Err(OutgoingError::NotJson),
        }
    }

    /// Posts a body and reads at most so many bytes of the answer. A redirect is an answer like any
    /// other.
    pub async fn post(
        &self,
        address: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        patience: Duration,
        most: usize,
    ) -> Result<Answered, OutgoingError> {
        let url = self.check(address)?;
        let request = self.client(&url).post(url).headers(headers).body(body).timeout(patience);
        let response = request.send().await.map_err(|error| reason(&error))?;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        Ok(Answered {
            status: response.status().as_u16(),
            retry_after_s: retry_after.and_then(seconds),
            // The status is the answer, whatever becomes of the rest.
            body: beginning(response, most).await.unwrap_or_default(),
        })
    }
}

/// How the body of a response begins: at most so many bytes.
pub(crate) async fn beginning(
    mut response: Response,
    most: usize,
) -> Result<Vec<u8>, OutgoingError> {
    let mut body = Vec::new();
    while body.len() < most
        && let Some(part) = response.chunk().await.map_err(|_| OutgoingError::Away)?
    {
        body.extend_from_slice(part.get(..most - body.len()).unwrap_or(&part));
    }
    Ok(body)
}

/// Seconds, or until a date (RFC 9110, section 10.2.3).
fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let until = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(until.as_secs().saturating_sub(Timestamp::now().as_secs()))
    })
}

/// The guard's own refusal, if that is at the bottom of it.
pub(crate) fn reason(error: &reqwest::Error) -> OutgoingError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return OutgoingError::Refused(*refused);
        }
        cause = error.source();
    }
    OutgoingError::Away
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_before_they_are_asked() {
        let outgoing = Outgoing::new(&[]).unwrap();
        assert_eq!(outgoing.check("https://127.1/"), Err(Refused::NotPublic.into()));
        assert_eq!(outgoing.check("http://hooks.example/"), Err(Refused::NotHttps.into()));
        assert_eq!(outgoing.check("https:"), Err(Refused::NotAnAddress.into()));
        assert!(outgoing.check("https://hooks.example:8443/in?from=portolan").is_ok());
    }

    #[test]
    fn later_is_a_number_of_seconds_or_a_date() {
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0));
        let far = seconds("Fri, 31 Dec 9999 23:59:59 GMT").unwrap();
        assert!(far > 1_000_000);
        assert_eq!(seconds("soon"), None);
    }
}
