//! The metadata of a client (RFC 7591, section 2), checked and completed with defaults.

use crate::{
    oauth::OAuthError,
    redirects::{RedirectHosts, without_loopback_port},
};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet};
use portolan_names::find_invisible;
use portolan_vocabulary::SCOPES;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Grants that clients can register for.
pub const GRANTS: [&str; 4] =
    ["authorization_code", "refresh_token", "client_credentials", DEVICE_CODE];
/// The grant of devices without a browser (RFC 8628, section 3.4).
pub const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The methods by which clients authenticate at the token endpoint.
pub const AUTH_METHODS: [&str; 4] =
    ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"];

const NAME_CHARACTERS: usize = 100;
const REDIRECTS: usize = 10;
/// The maximum number of keys of a client.
const KEYS: usize = 20;
/// The maximum length of the modulus of an RSA key, in base64url: 4096 bits. The check of a signature takes longer
/// with each bit.
const RSA_MODULUS_CHARACTERS: usize = 683;
const URL_BYTES: usize = 2_000;

/// Client metadata that has been checked.
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
    /// The scopes that the client may request, separated by spaces.
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

/// Client metadata as a client sends it. Unknown members are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MetadataRequest {
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
    /// Returns the metadata of a client that was registered together with an agent.
    pub(crate) fn of_agent() -> Self {
        Self {
            grant_types: vec!["client_credentials".to_owned()],
            token_endpoint_auth_method: "client_secret_basic".to_owned(),
            scope: SCOPES.join(" "),
            ..Self::default()
        }
    }

    /// Parses and checks the metadata that a client sent, and fills in the defaults.
    pub fn parse(json: &[u8], redirects: &RedirectHosts) -> Result<Self, OAuthError> {
        let unreadable = |error| invalid(format!("the metadata cannot be read: {error}"));
        // The derived parser would also accept an array of the values in order.
        let fields: Map<String, Value> = serde_json::from_slice(json).map_err(unreadable)?;
        let sent: MetadataRequest =
            serde_json::from_value(Value::Object(fields)).map_err(unreadable)?;
        let retain_known = |names: Option<Vec<String>>, known: &[&str]| {
            names.map(|mut names| {
                names.retain(|name| known.contains(&name.as_str()));
                names
            })
        };
        let default_grants = || vec!["authorization_code".to_owned()];
        let grant_types = retain_known(sent.grant_types, &GRANTS).unwrap_or_else(default_grants);
        let has = |grant: &str| grant_types.iter().any(|granted| granted == grant);
        if !["authorization_code", "client_credentials", DEVICE_CODE].into_iter().any(has) {
            return Err(invalid(format!(
                "grant_types must have at least one of {}",
                GRANTS.join(", ")
            )));
        }
        let requested = retain_known(sent.response_types, &["code"]);
        let response_types =
            if has("authorization_code") { vec!["code".to_owned()] } else { Vec::new() };
        if has("authorization_code") && requested.is_some_and(|types| types.is_empty()) {
            return Err(invalid("response_types must be code for the grant authorization_code"));
        }
        let method =
            sent.token_endpoint_auth_method.unwrap_or_else(|| "client_secret_basic".to_owned());
        if !AUTH_METHODS.contains(&method.as_str()) {
            let methods = AUTH_METHODS.join(", ");
            return Err(invalid(format!("token_endpoint_auth_method must be one of {methods}")));
        }
        if method == "none" && has("client_credentials") {
            return Err(invalid(
                "a client without a secret cannot have the grant client_credentials",
            ));
        }
        let is_web_address = |uri: &String| uri.len() <= URL_BYTES && uri.starts_with("https://");
        let by_key = method == "private_key_jwt";
        let jwks = sent.jwks.filter(|_| by_key);
        let jwks_uri = sent.jwks_uri.filter(|uri| by_key && is_web_address(uri));
        if by_key && jwks.is_some() == jwks_uri.is_some() {
            let text =
                "token_endpoint_auth_method private_key_jwt needs jwks, or jwks_uri at https";
            return Err(invalid(text));
        }
        if let Some(fault) = jwks.as_ref().and_then(find_key_fault) {
            return Err(invalid(format!("jwks {fault}")));
        }
        let needs_no_redirect = has("client_credentials") || has(DEVICE_CODE);
        if sent.redirect_uris.is_empty() && !needs_no_redirect {
            return Err(OAuthError::new("invalid_redirect_uri", "redirect_uris is missing"));
        }
        if sent.redirect_uris.len() > REDIRECTS {
            let text = format!("there are more than {REDIRECTS} redirect_uris");
            return Err(OAuthError::new("invalid_redirect_uri", text));
        }
        let redirect_uris = allowed_redirects(sent.redirect_uris, redirects)?;
        for (name, value) in [
            ("client_name", &sent.client_name),
            ("software_id", &sent.software_id),
            ("software_version", &sent.software_version),
            ("application_type", &sent.application_type),
        ] {
            let is_unusable = |text: &String| {
                text.chars().count() > NAME_CHARACTERS || find_invisible(text).is_some()
            };
            if value.as_ref().is_some_and(is_unusable) {
                return Err(invalid(format!(
                    "{name} has over {NAME_CHARACTERS} characters, or invisible ones"
                )));
            }
        }
        // A blank name is no name.
        let client_name = sent.client_name.filter(|name| !name.trim().is_empty());
        let client_name = client_name.map(usable_name).transpose()?;
        // Scopes of other servers, such as openid, are left out.
        let scope = sent.scope.map(|scope| {
            let known = scope.split(' ').filter(|name| SCOPES.contains(name));
            known.collect::<Vec<_>>().join(" ")
        });
        if scope.as_ref().is_some_and(String::is_empty) {
            return Err(invalid(format!("scope must have at least one of {}", SCOPES.join(", "))));
        }
        let scope = scope.unwrap_or_else(|| SCOPES.join(" "));
        Ok(Self {
            client_name,
            client_uri: sent.client_uri.filter(is_web_address),
            redirect_uris,
            grant_types,
            response_types,
            token_endpoint_auth_method: method,
            scope,
            application_type: sent.application_type,
            software_id: sent.software_id,
            software_version: sent.software_version,
            jwks,
            jwks_uri,
        })
    }

    /// Returns whether the client may use this grant type.
    pub fn has_grant(&self, grant: &str) -> bool {
        self.grant_types.iter().any(|granted| granted == grant)
    }

    /// Returns whether a request may name this redirect address. It must equal a registered one (RFC 9700,
    /// section 2.1), except for the port of a loopback address (RFC 8252, section 7.3).
    pub(crate) fn redirects_to(&self, uri: &str) -> bool {
        let any_port = without_loopback_port(uri);
        self.redirect_uris.iter().any(|registered| {
            registered == uri
                || (any_port.is_some() && without_loopback_port(registered) == any_port)
        })
    }
}

/// Returns what is wrong with a key set: an assertion must lead to one key, whose signatures are checked
/// quickly.
pub(crate) fn find_key_fault(keys: &JwkSet) -> Option<String> {
    let keys = &keys.keys;
    let ids: BTreeSet<_> = keys.iter().filter_map(|key| key.common.key_id.as_deref()).collect();
    let is_long = |key: &Jwk| match &key.algorithm {
        AlgorithmParameters::RSA(rsa) => rsa.n.len() > RSA_MODULUS_CHARACTERS,
        _ => false,
    };
    if keys.is_empty() || keys.len() > KEYS {
        return Some(format!("must have 1 to {KEYS} keys"));
    }
    if keys.len() > 1 && ids.len() < keys.len() {
        return Some("has several keys, so each must have a kid of its own".to_owned());
    }
    keys.iter().any(is_long).then(|| "has an RSA key of more than 4096 bits".to_owned())
}

fn invalid(description: impl Into<std::borrow::Cow<'static, str>>) -> OAuthError {
    OAuthError::new("invalid_client_metadata", description)
}

/// Returns a name that people may see. Editors add what the person calls this server, as in `Editor (portolan)`;
/// that part is left out if the name cannot be used with it.
fn usable_name(name: String) -> Result<String, OAuthError> {
    let Err(fault) = portolan_names::check(&name) else { return Ok(name) };
    let without_server = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    match without_server {
        Some((editor, _server)) if portolan_names::check(editor).is_ok() => Ok(editor.to_owned()),
        _ => Err(invalid(format!("client_name cannot be used: {fault}"))),
    }
}

/// Returns the addresses to which this server redirects; the others are left out (RFC 7591, section 2). Fails if
/// addresses were sent and none is left.
fn allowed_redirects(
    mut uris: Vec<String>,
    redirects: &RedirectHosts,
) -> Result<Vec<String>, OAuthError> {
    let mut refusal = None;
    uris.retain(|uri| match redirects.ensure_allowed(uri) {
        Ok(()) => true,
        Err(error) => {
            refusal.get_or_insert(error);
            false
        }
    });
    match refusal.filter(|_| uris.is_empty()) {
        Some(error) => Err(error),
        None => Ok(uris),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hosts() -> RedirectHosts {
        RedirectHosts::new(vec!["app.example".to_owned()])
    }

    fn code(json: &str) -> &'static str {
        ClientMetadata::parse(json.as_bytes(), &hosts()).map_or_else(|error| error.code, |_| "")
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
    fn a_key_set_leads_to_one_key_that_is_checked_quickly() {
        let rsa = |kid: Option<usize>, characters: usize| json!({ "kty": "RSA", "e": "AQAB", "n": "x".repeat(characters), "kid": kid.map(|kid| kid.to_string()) });
        let fault = |keys: Vec<Value>| {
            find_key_fault(&serde_json::from_value(json!({ "keys": keys })).unwrap())
        };
        for keys in [vec![rsa(None, 683)], vec![rsa(Some(1), 342), rsa(Some(2), 342)]] {
            assert_eq!(fault(keys), None);
        }
        for keys in [
            vec![],
            vec![rsa(None, 684)],
            vec![rsa(Some(1), 342), rsa(Some(1), 342)],
            vec![rsa(None, 342), rsa(Some(1), 342)],
            (0..=KEYS).map(|kid| rsa(Some(kid), 342)).collect(),
        ] {
            assert!(fault(keys.clone()).is_some(), "{keys:?}");
        }
    }

    #[test]
    fn the_name_of_this_server_is_left_out_of_the_name_of_an_editor() {
        for (sent, kept) in [
            ("Editor (portolan)", Ok("Editor")),
            ("Editor (work)", Ok("Editor (work)")),
            ("Portolan (editor)", Err("invalid_client_metadata")),
            ("Portolan (portolan)", Err("invalid_client_metadata")),
        ] {
            let name = usable_name(sent.to_owned());
            assert_eq!(name.as_deref().map_err(|error| error.code), kept, "{sent}");
        }
    }

    #[test]
    fn addresses_that_are_not_allowed_are_left_out_of_a_registration() {
        let read = |uris: Value| {
            let json = json!({ "redirect_uris": uris }).to_string();
            ClientMetadata::parse(json.as_bytes(), &hosts()).map(|read| read.redirect_uris)
        };
        let [bad, good] = ["https://evil.example/cb", "https://app.example/cb"];
        assert_eq!(read(json!([bad, good, "javascript:alert(1)"])).unwrap(), [good]);
        assert_eq!(read(json!([bad])).unwrap_err().code, "invalid_redirect_uri");
    }

    #[test]
    fn inconsistent_metadata_is_refused() {
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
            (format!("{{{REDIRECT},\"client_name\":\" \"}}"), ""),
            (format!("{{{REDIRECT},\"client_name\":\"\\u3164\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"client_name\":\"\\u0397arbour Fund\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"client_name\":\"Portolan Support\"}}"), "invalid_client_metadata"),
            (format!("{{{REDIRECT},\"client_name\":\"Harbour Fund \\u2713\"}}"), "invalid_client_metadata"),
        ] {
            assert_eq!(code(&json), error, "{json}");
        }
    }
}
