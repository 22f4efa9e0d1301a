//! The rules for requests to the operator's address over TCP. Requests over the socket need none, because the
//! system lets only this user open it.

use super::token::OperatorToken;
use crate::setting::Setting;
use arc_swap::ArcSwap;
use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{AUTHORIZATION, HOST, ORIGIN},
};
use http::uri::Authority;
use portolan_vocabulary::{ErrorCode, Failure};
use std::net::IpAddr;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The values of `Sec-Fetch-Site` (Fetch Metadata, section 2.4) for requests that no page of another origin
/// has sent.
const OWN_SITES: [&str; 2] = ["same-origin", "none"];

/// The rules for requests to the operator's address.
#[derive(Debug)]
pub struct OperatorAccess {
    /// The token that no person has alone, with the role `admin`.
    pub token: OperatorToken,
    /// The host names by which requests may reach the address, in addition to `localhost` and every
    /// IP address.
    pub hosts: Vec<String>,
    /// Whether `/metrics` needs no token.
    pub metrics_public: bool,
    /// The settings in force, for the operator.
    pub settings: ArcSwap<Vec<Setting>>,
}

impl OperatorAccess {
    /// Ensures that a request has a known host name, and that no page of another origin has sent it.
    pub(crate) fn ensure_own(&self, headers: &HeaderMap) -> Result<(), Failure> {
        self.ensure_known_host(headers)?;
        ensure_own_origin(headers)
    }

    /// Refuses requests by host names that are not configured. By DNS rebinding, a page can send requests to
    /// this address under a name of its own, but not under an IP address.
    fn ensure_known_host(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let authority = headers.get(HOST).and_then(|value| value.to_str().ok());
        let authority = authority.and_then(|text| text.parse::<Authority>().ok());
        let host = authority.as_ref().map(Authority::host).unwrap_or_default();
        let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        let is_known = |name: &String| name.eq_ignore_ascii_case(host);
        if is_address || host.eq_ignore_ascii_case("localhost") || self.hosts.iter().any(is_known) {
            return Ok(());
        }
        let message = "The operator's address has another name. Use its IP address, or add the name to operator_hosts.";
        Err(Failure::new(ErrorCode::NotPermitted).message(message))
    }
}

/// Refuses requests that a browser sends for a page of another origin.
fn ensure_own_origin(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or(""));
    let is_own_site = text(SEC_FETCH_SITE).is_none_or(|site| OWN_SITES.contains(&site));
    let is_own_origin = text(ORIGIN).is_none_or(|origin| {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some() && authority == text(HOST)
    });
    match is_own_site && is_own_origin {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::NotPermitted)
            .message("A page of another origin may not use the operator's address.")),
    }
}

/// Returns the token of `Authorization: Bearer` (RFC 6750, section 2.1).
pub(crate) fn operator_bearer(headers: &HeaderMap) -> Result<&str, Failure> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty());
    let message = "Send the operator's token as `Authorization: Bearer TOKEN`. The token of the host is in the file operator.token of the data folder, or in PORTOLAN_OPERATOR_TOKEN. On the host's machine, the portolan command needs none.";
    token.ok_or_else(|| Failure::new(ErrorCode::AuthenticationRequired).message(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(headers: &[(HeaderName, &str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn check(sent: &[(HeaderName, &str)]) -> Result<(), String> {
        let access = OperatorAccess {
            token: OperatorToken::configured("the operator's token"),
            hosts: vec!["portolan.internal".to_owned()],
            metrics_public: false,
            settings: ArcSwap::default(),
        };
        access.ensure_own(&headers(sent)).map_err(|failure| failure.error_code.into_owned())
    }

    #[test]
    fn only_a_bearer_token_is_a_token() {
        for (value, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Bearer", None),
            ("Bearer  ", None),
            ("Basic abc", None),
            ("abc", None),
            ("", None),
        ] {
            let headers = headers(&[(AUTHORIZATION, value)]);
            assert_eq!(operator_bearer(&headers).ok(), token, "{value}");
        }
        assert!(operator_bearer(&headers(&[])).is_err());
    }

    #[test]
    fn another_name_is_refused() {
        for host in ["127.0.0.1", "[::1]:8081", "LocalHost:8081", "portolan.internal", "10.1.2.3:1"]
        {
            assert_eq!(check(&[(HOST, host)]), Ok(()), "{host}");
        }
        for host in ["attacker.example", "127.0.0.1.attacker.example:8081", "localhost.", "", "a@b"]
        {
            assert_eq!(check(&[(HOST, host)]), Err("not_permitted".to_owned()), "{host}");
        }
        assert_eq!(check(&[]), Err("not_permitted".to_owned()));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = (HOST, "127.0.0.1:8081");
        let check_with = |header: (HeaderName, &'static str)| check(&[host.clone(), header]);
        assert_eq!(check_with((ORIGIN, "http://127.0.0.1:8081")), Ok(()));
        assert_eq!(check_with((SEC_FETCH_SITE, "none")), Ok(()));
        for header in [
            (ORIGIN, "http://127.0.0.1:8080"),
            (ORIGIN, "https://attacker.example"),
            (ORIGIN, "null"),
            (ORIGIN, ""),
            (SEC_FETCH_SITE, "cross-site"),
            (SEC_FETCH_SITE, "same-site"),
        ] {
            assert_eq!(check_with(header.clone()), Err("not_permitted".to_owned()), "{header:?}");
        }
    }
}
