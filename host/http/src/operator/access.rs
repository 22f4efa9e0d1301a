//! The checks of requests to the operator's address over TCP. Requests over the socket need none, because the
//! system lets only this user open it.

use crate::{Refusal, operator::token::OperatorToken};
use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue,
        header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE},
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::uri::Authority;
use portolan_vocabulary::{ErrorCode, Failure};
use std::{net::IpAddr, sync::Arc};

/// The paths that need no token: they reveal nothing but the state of the process.
const PROBES: [&str; 3] = ["/startupz", "/healthz", "/readyz"];
const METRICS: &str = "/metrics";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The values of `Sec-Fetch-Site` (Fetch Metadata, section 2.4) for requests that no page of another origin
/// has sent.
const OWN_SITES: [&str; 2] = ["same-origin", "none"];

/// The rules for requests to the operator's address.
#[derive(Debug)]
pub struct OperatorAccess {
    pub token: OperatorToken,
    /// The host names by which requests may reach the address, in addition to `localhost` and every
    /// IP address.
    pub hosts: Vec<String>,
    /// Whether `/metrics` needs no token.
    pub metrics_public: bool,
}

/// Lets a request pass if its host name is known, no page of another origin has sent it, and it has
/// the token or its path needs none.
pub(crate) async fn require_operator(
    State(access): State<Arc<OperatorAccess>>,
    request: Request,
    next: Next,
) -> Response {
    match access.ensure_allowed(request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(failure) => {
            let unauthenticated = failure.has_code(ErrorCode::AuthenticationRequired);
            let mut response = Refusal(failure).into_response();
            if unauthenticated {
                let challenge = HeaderValue::from_static("Bearer realm=\"operator\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}

impl OperatorAccess {
    fn ensure_allowed(&self, path: &str, headers: &HeaderMap) -> Result<(), Failure> {
        self.ensure_known_host(headers)?;
        ensure_own_origin(headers)?;
        let is_public = PROBES.contains(&path) || (self.metrics_public && path == METRICS);
        if is_public || bearer(headers).is_some_and(|token| self.token.matches(token)) {
            return Ok(());
        }
        let message = "Send the operator's token as `Authorization: Bearer TOKEN`. It is in the file operator.token of the data folder, or in PORTOLAN_OPERATOR_TOKEN. On the host's machine, the portolan command needs none.";
        Err(Failure::new(ErrorCode::AuthenticationRequired).message(message))
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
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, headers: &[(HeaderName, &str)]) -> Result<(), String> {
        let access = OperatorAccess {
            token: OperatorToken::configured("the operator's token"),
            hosts: vec!["portolan.internal".to_owned()],
            metrics_public: false,
        };
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        let checked = access.ensure_allowed(path, &headers.collect());
        checked.map_err(|failure| failure.error_code.into_owned())
    }

    const TOKEN: (HeaderName, &str) = (AUTHORIZATION, "Bearer the operator's token");

    #[test]
    fn only_probes_need_no_token() {
        let host = (HOST, "127.0.0.1:8081");
        for path in PROBES {
            assert_eq!(check(path, std::slice::from_ref(&host)), Ok(()), "{path}");
        }
        for path in ["/metrics", "/audit", "/keys/rotate", "/healthz/", "//healthz"] {
            let refused = Err("authentication_required".to_owned());
            assert_eq!(check(path, std::slice::from_ref(&host)), refused, "{path}");
            let wrong = (AUTHORIZATION, "Bearer another token");
            assert_eq!(check(path, &[host.clone(), wrong]), refused, "{path}");
            assert_eq!(check(path, &[host.clone(), TOKEN]), Ok(()), "{path}");
        }
    }

    #[test]
    fn another_name_is_refused_even_with_the_token() {
        for host in ["127.0.0.1", "[::1]:8081", "LocalHost:8081", "portolan.internal", "10.1.2.3:1"]
        {
            assert_eq!(check("/audit", &[(HOST, host), TOKEN]), Ok(()), "{host}");
        }
        for host in ["attacker.example", "127.0.0.1.attacker.example:8081", "localhost.", "", "a@b"]
        {
            for path in ["/audit", "/readyz"] {
                let refused = Err("not_permitted".to_owned());
                assert_eq!(check(path, &[(HOST, host), TOKEN]), refused, "{host}");
            }
        }
        assert_eq!(check("/audit", &[TOKEN]), Err("not_permitted".to_owned()));
    }

    #[test]
    fn pages_of_other_origins_are_refused_even_with_the_token() {
        let host = (HOST, "127.0.0.1:8081");
        let check_with = |header: (HeaderName, &'static str)| {
            check("/keys/rotate", &[host.clone(), TOKEN, header])
        };
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
