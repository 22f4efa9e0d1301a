//! What a client says of itself (RFC 7591, section 2), judged and completed; and which redirect
//! addresses a client may have.

use crate::{OAuthError, SCOPES};
use jsonwebtoken::jwk::JwkSet;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

/// Grants that clients can register for.
pub const GRANTS: [&str; 3] = ["authorization_code", "refresh_token", "client_credentials"];
/// How clients authenticate at the token endpoint.
pub const AUTH_METHODS: [&str; 4] =
    ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"];

const NAME_CHARACTERS: usize = 100;
const REDIRECTS: usize = 10;
const URL_BYTES: usize = 2_000;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Client metadata that holds together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ClientMetadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_uri: Option<String>,
    pub redirect_uris: Vec<String>,
    pub grant_types: Vec<String>,
    pub response_types: Vec<String>,
    pub token_endpoint_auth_method: String,
    /// Space-separated: what it may ask for.
    pub scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks: Option<JwkSet>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<String>,
}

/// As sent; what is not known is ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    client_name: Option<String>,
    client_uri: Option<String>,
    redirect_uris: Vec<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    token_endpoint_auth_method: Option<String>,
    scope: Option<String>,
    application_type: Option<String>,
    software_id: Option<String>,
    software_version: Option<String>,
    jwks: Option<JwkSet>,
    jwks_uri: Option<String>,
}

impl ClientMetadata {
    /// Of a client that was registered with an agent.
    pub(super) fn of_agent() -> Self {
        Self {
            grant_types: vec!["client_credentials".to_owned()],
            token_endpoint_auth_method: "client_secret_basic".to_owned(),
            scope: SCOPES.join(" "),
            ..Self::default()
        }
    }

    /// Judges what a client sent, and fills in what it left out.
    pub fn judge(json: &[u8], redirects: &RedirectHosts) -> Result<Self, OAuthError> {
        let unreadable = |error| wrong(format!("the metadata cannot be read: {error}"));
        // An object: a list of values in order would do for the derived reading.
        let fields: Map<String, Value> = serde_json::from_slice(json).map_err(unreadable)?;
        let written: Written = serde_json::from_value(Value::Object(fields)).map_err(unreadable)?;
        let known = |names: Option<Vec<String>>, known: &[&str]| {
            names.map(|mut names| {
                names.retain(|name| known.contains(&name.as_str()));
                names
            })
        };
        let code = || vec!["authorization_code".to_owned()];
        let grant_types = known(written.grant_types, &GRANTS).unwrap_or_else(code);
        let has = |grant: &str| grant_types.iter().any(|it| it == grant);
        if !has("authorization_code") && !has("client_credentials") {
            return Err(wrong(format!("grant_types has none of {}", GRANTS.join(", "))));
        }
        let asked = known(written.response_types, &["code"]);
        let response_types =
            if has("authorization_code") { vec!["code".to_owned()] } else { Vec::new() };
        if has("authorization_code") && asked.is_some_and(|types| types.is_empty()) {
            return Err(wrong("response_types is code for the grant authorization_code"));
        }
        let method =
            written.token_endpoint_auth_method.unwrap_or_else(|| "client_secret_basic".to_owned());
        if !AUTH_METHODS.contains(&method.as_str()) {
            let methods = AUTH_METHODS.join(", ");
            return Err(wrong(format!("token_endpoint_auth_method is none of {methods}")));
        }
        if method == "none" && has("client_credentials") {
            return Err(wrong(
                "a client without a secret cannot have the grant client_credentials",
            ));
        }
        let page = |uri: &String| uri.len() <= URL_BYTES && uri.starts_with("https://");
        let by_key = method == "private_key_jwt";
        let jwks = written.jwks.filter(|_| by_key);
        let jwks_uri = written.jwks_uri.filter(|uri| by_key && page(uri));
        if by_key && jwks.is_some() == jwks_uri.is_some() {
            let text =
                "token_endpoint_auth_method private_key_jwt needs jwks, or jwks_uri at https";
            return Err(wrong(text));
        }
        if written.redirect_uris.is_empty() && !has("client_credentials") {
            return Err(OAuthError::new("invalid_redirect_uri", "redirect_uris is missing"));
        }
        if written.redirect_uris.len() > REDIRECTS {
            let text = format!("there are more than {REDIRECTS} redirect_uris");
            return Err(OAuthError::new("invalid_redirect_uri", text));
        }
        for uri in &written.redirect_uris {
            redirects.check(uri)?;
        }
        for (name, value) in [
            ("client_name", &written.client_name),
            ("software_id", &written.software_id),
            ("software_version", &written.software_version),
            ("application_type", &written.application_type),
        ] {
            let odd =
                |text: &String| text.chars().count() > NAME_CHARACTERS || text.chars().any(is_odd);
            if value.as_ref().is_some_and(odd) {
                return Err(wrong(format!(
                    "{name} has over {NAME_CHARACTERS} characters, or odd ones"
                )));
            }
        }
        // What other servers have, such as openid, is left out.
        let scope = written.scope.map(|scope| {
            let known = scope.split(' ').filter(|name| SCOPES.contains(name));
            known.collect::<Vec<_>>().join(" ")
        });
        if scope.as_ref().is_some_and(String::is_empty) {
            return Err(wrong(format!("scope has none of {}", SCOPES.join(", "))));
        }
        let scope = scope.unwrap_or_else(|| SCOPES.join(" "));
        Ok(Self {
            client_name: written.client_name.filter(|name| !name.trim().is_empty()),
            client_uri: written.client_uri.filter(page),
            redirect_uris: written.redirect_uris,
            grant_types,
            response_types,
            token_endpoint_auth_method: method,
            scope,
            application_type: written.application_type,
            software_id: written.software_id,
            software_version: written.software_version,
            jwks,
            jwks_uri,
        })
    }

    pub fn has_grant(&self, grant: &str) -> bool {
        self.grant_types.iter().any(|it| it == grant)
    }

    /// Whether a request may name this redirect address (RFC 9700, section 2.1): exactly one that was
    /// registered; of a loopback address any port (RFC 8252, section 7.3).
    pub(super) fn redirects_to(&self, uri: &str) -> bool {
        let any_port = without_loopback_port(uri);
        self.redirect_uris.iter().any(|registered| {
            registered == uri
                || (any_port.is_some() && without_loopback_port(registered) == any_port)
        })
    }
}

/// Characters that nobody sees, some of which turn a name around.
fn is_odd(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(it, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn wrong(description: impl Into<std::borrow::Cow<'static, str>>) -> OAuthError {
    OAuthError::new("invalid_client_metadata", description)
}

/// Hosts that a client may send people back to, beside this machine's own.
#[derive(Debug, Clone, Default)]
pub struct RedirectHosts(Vec<String>);

impl RedirectHosts {
    /// Each is a host for `https`, or `scheme://host` for an application's own scheme.
    pub fn new(hosts: Vec<String>) -> Self {
        Self(hosts)
    }

    pub(super) fn check(&self, uri: &str) -> Result<(), OAuthError> {
        let refuse = |text: &str| {
            Err(OAuthError::new("invalid_redirect_uri", format!("{text}: {}", shown(uri))))
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
        // What browsers would resolve is not what is compared later.
        if uri.split(['?']).next().unwrap_or_default().split('/').any(|part| part == "..") {
            return refuse("an address with dot segments");
        }
        let host = url.host_str().unwrap_or_default();
        let listed = |name: &str| self.0.iter().any(|host| host.eq_ignore_ascii_case(name));
        match url.scheme() {
            "http" if LOOPBACK.contains(&host) => Ok(()),
            "http" => refuse("http is for this machine's own addresses; use https"),
            "https" if LOOPBACK.contains(&host) || listed(host) => Ok(()),
            "https" => refuse(
                "the host is not one that this server redirects to (its operator lists them in redirect_hosts)",
            ),
            scheme if listed(&format!("{scheme}://{host}")) => Ok(()),
            _ => refuse("the scheme is not one that this server redirects to"),
        }
    }
}

fn shown(uri: &str) -> String {
    uri.chars().filter(|it| !it.is_control()).take(100).collect()
}

/// A loopback address as it is written, but for its port.
fn without_loopback_port(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("http://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = LOOPBACK.iter().find(|host| {
        authority.strip_prefix(*host).is_some_and(|port| {
            let digits = port.strip_prefix(':').unwrap_or_default();
            port.is_empty() || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
        })
    })?;
    Some(format!("http://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> RedirectHosts {
        RedirectHosts::new(vec!["app.example".to_owned(), "editor://sign-in".to_owned()])
    }

    fn code(json: &str) -> &'static str {
        ClientMetadata::judge(json.as_bytes(), &hosts()).map_or_else(|error| error.code, |_| "")
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
            assert!(hosts().check(good).is_ok(), "{good}");
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
            assert_eq!(hosts().check(bad).unwrap_err().code, "invalid_redirect_uri", "{bad}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        let metadata = ClientMetadata {
            redirect_uris: vec![
                "http://127.0.0.1:1/cb".to_owned(),
                "https://app.example/cb?a=1".to_owned(),
            ],
            ..ClientMetadata::default()
        };
        for good in
            ["http://127.0.0.1:1/cb", "http://127.0.0.1:65000/cb", "https://app.example/cb?a=1"]
        {
            assert!(metadata.redirects_to(good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:1/cb/",
            "http://127.0.0.1:1/CB",
            "http://127.0.0.1:1/cb?x",
            "http://127.0.0.1:1@evil.example/cb",
            "http://127.0.0.1:x/cb",
            "http://localhost:1/cb",
            "https://127.0.0.1:1/cb",
            "https://app.example:444/cb?a=1",
            "https://app.example/cb",
            "https://app.example/cb?a=1&b",
            "https://app.example/x/../cb?a=1",
        ] {
            assert!(!metadata.redirects_to(bad), "{bad}");
        }
    }

    #[test]
    fn metadata_that_does_not_hold_together_is_refused() {
        const REDIRECT: &str = r#""redirect_uris":["http://localhost/cb"]"#;
        for (json, error) in [
            (format!("{{{REDIRECT}}}"), ""),
            (format!("{{{REDIRECT},\"unknown\":[1]}}"), ""),
            (r#"{"client_name":"x","grant_types":["authorization_code","client_credentials"],"token_endpoint_auth_method":"client_secret_basic","scope":"svc.read svc.write"}"#.to_owned(), ""),
            ("{}".to_owned(), "invalid_redirect_uri"),
            ("[]".to_owned(), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"grant_types\":[\"implicit\"]}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"response_types\":[\"token\"]}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"scope\":\"admin\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"token_endpoint_auth_method\":\"private_key_jwt\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"scope\":\"openid svc.read\"}}"), ""),
            (r#"{"grant_types":["client_credentials"],"token_endpoint_auth_method":"none"}"#.to_owned(), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"client_name\":\"a\\u0000b\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"client_name\":\"knab\\u202eevil\"}}"), "invalid_client_metadata"),
        ] {
            assert_eq!(code(&json), error, "{json}");
        }
    }
}
