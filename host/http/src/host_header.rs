//! The header `Host`, which every request of HTTP/1.1 must have once (RFC 9112, section 3.2). Proxies and
//! servers could otherwise take one request for requests to different hosts.

use axum::http::{HeaderValue, Request, Version, header::HOST, uri::Authority};
use portolan_vocabulary::{ErrorCode, Failure};

/// Refuses a request with several `Host` headers, with one that names no host, and one of HTTP/1.1
/// without any.
pub(super) fn ensure_one_host<B>(request: &Request<B>) -> Result<(), Failure> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_authority(host),
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    match is_valid {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::ValidationFailed)
            .message("Send exactly one Host header, with the name and the port of this host.")),
    }
}

/// Returns whether the value is a host with an optional port (RFC 9110, section 7.2).
fn is_authority(value: &HeaderValue) -> bool {
    let authority = Authority::try_from(value.as_bytes());
    authority.is_ok_and(|authority| !authority.as_str().contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(version: Version, hosts: &[&str]) -> bool {
        let request = Request::builder().version(version);
        let request = hosts.iter().fold(request, |request, host| request.header(HOST, *host));
        ensure_one_host(&request.body(()).unwrap()).is_ok()
    }

    #[test]
    fn a_request_has_exactly_one_host() {
        for host in ["x", "portolan.example:8080", "127.0.0.1", "[::1]:80"] {
            assert!(is_allowed(Version::HTTP_11, &[host]), "{host}");
        }
        let refused: [&[&str]; 6] = [&[], &["x", "x"], &["x", "y"], &[""], &["x y"], &["me@x"]];
        for hosts in refused {
            assert!(!is_allowed(Version::HTTP_11, hosts), "{hosts:?}");
        }
        assert!(is_allowed(Version::HTTP_10, &[]));
        assert!(!is_allowed(Version::HTTP_10, &["x", "y"]));
    }
}
