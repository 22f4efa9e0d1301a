//! The redirect addresses that a client may have.

use crate::{known_clients::is_known, oauth::OAuthError};
use url::Url;

const URL_BYTES: usize = 2_000;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The redirect addresses that clients may have, besides those of the loopback interface.
#[derive(Debug, Clone, Default)]
pub struct RedirectHosts {
    hosts: Vec<String>,
    known_clients: bool,
}

impl RedirectHosts {
    /// Allows the listed hosts. Each is a host for `https`, or `scheme://host` for an application's own
    /// scheme.
    pub fn new(hosts: Vec<String>) -> Self {
        Self { hosts, known_clients: false }
    }

    /// Allows the addresses of known clients too.
    pub fn and_known_clients(self) -> Self {
        Self { known_clients: true, ..self }
    }

    /// Refuses an address to which this server does not redirect.
    pub(crate) fn ensure_allowed(&self, uri: &str) -> Result<(), OAuthError> {
        let refuse = |text: &str| {
            Err(OAuthError::new("invalid_redirect_uri", format!("{text}: {}", excerpt(uri))))
        };
        let Ok(url) = Url::parse(uri) else { return refuse("not an absolute address") };
        if uri.len() > URL_BYTES || uri.contains(['*', '\\']) || uri.contains(char::is_whitespace) {
            return refuse("too long, or with characters that an address cannot have");
        }
        if url.fragment().is_some() {
            return refuse("an address with a fragment");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("an address with a user");
        }
        // Browsers resolve dot segments, and addresses are compared as texts later.
        if uri.split(['?']).next().unwrap_or_default().split('/').any(|part| part == "..") {
            return refuse("an address with dot segments");
        }
        if self.known_clients && is_known(uri) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        let is_listed = |name: &str| self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
        match url.scheme() {
            "http" if LOOPBACK.contains(&host) => Ok(()),
            "http" => refuse("http is for this machine's own addresses; use https"),
            "https" if LOOPBACK.contains(&host) || is_listed(host) => Ok(()),
            "https" => refuse(
                "the host is not one that this server redirects to (its operator lists them in redirect_hosts)",
            ),
            scheme if is_listed(&format!("{scheme}://{host}")) => Ok(()),
            _ => refuse("the scheme is not one that this server redirects to"),
        }
    }
}

/// Returns the first characters of an address, without control characters, for an error message.
fn excerpt(uri: &str) -> String {
    uri.chars().filter(|letter| !letter.is_control()).take(100).collect()
}

/// Returns an `http` loopback address without its port and otherwise as it is written. Returns
/// `None` for any other address.
pub(crate) fn without_loopback_port(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("http://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = LOOPBACK.iter().find(|host| {
        authority.strip_prefix(*host).is_some_and(|port| {
            let digits = port.strip_prefix(':').unwrap_or_default();
            port.is_empty()
                || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
    })?;
    Some(format!("http://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known_clients::KNOWN_REDIRECTS;

    fn hosts() -> RedirectHosts {
        RedirectHosts::new(vec!["app.example".to_owned(), "editor://sign-in".to_owned()])
    }

    #[test]
    fn known_clients_have_their_own_addresses_and_no_others() {
        let allowed = RedirectHosts::default().and_known_clients();
        for known in KNOWN_REDIRECTS {
            let uri = known.replace("{id}", "AbC-1_2");
            assert!(allowed.ensure_allowed(&uri).is_ok(), "{uri}");
            assert!(RedirectHosts::default().ensure_allowed(&uri).is_err(), "{uri}");
            for other in ["?x=1", "/x", ".evil.example", "#x", "%2F"] {
                let uri = format!("{uri}{other}");
                assert!(allowed.ensure_allowed(&uri).is_err(), "{uri}");
            }
        }
        for bad in [
            "https://chatgpt.com/connector/oauth/",
            "https://chatgpt.com/connector/oauth/../x",
            "https://vscode.dev/redirect?url=https://evil.example",
            "https://vscode.dev.evil.example/redirect",
            "http://vscode.dev/redirect",
            "cursor://other/oauth/callback",
        ] {
            assert!(allowed.ensure_allowed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn redirects_are_on_the_list_or_on_this_machine() {
        for good in [
            "http://127.0.0.1:3000/callback",
            "http://localhost/cb?x=1",
            "http://[::1]:9/",
            "https://app.example/cb",
            "editor://sign-in/done",
        ] {
            assert!(hosts().ensure_allowed(good).is_ok(), "{good}");
        }
        for bad in [
            "/callback",
            "javascript:alert(1)",
            "data:text/html,x",
            "http://app.example/cb",
            "https://evil.example/cb",
            "https://app.example.evil.example/cb",
            "https://app.example@evil.example/cb",
            "https://user@app.example/cb",
            "https://app.example/cb#x",
            "https://*.example/cb",
            "https://app.example/a/../cb",
            "https://app.example/c b",
            "http://127.0.0.1.evil.example/",
            "other://sign-in",
        ] {
            assert_eq!(
                hosts().ensure_allowed(bad).unwrap_err().code,
                "invalid_redirect_uri",
                "{bad}"
            );
        }
    }
}
