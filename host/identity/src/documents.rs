//! Clients that are known by the address of a document about them
//! (draft-ietf-oauth-client-id-metadata-document).

use crate::{
    Client, IdentityError, OAuthError,
    metadata::{ClientMetadata, RedirectHosts},
};
use jsonwebtoken::jwk::JwkSet;
use moka::{Expiry, future::Cache};
use portolan_outgoing::Outgoing;
use serde::Deserialize;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use url::Url;

/// How long a document is good, and for how long one that cannot be had is not asked for again.
const AGE: Duration = Duration::from_secs(300);
const AGE_OF_FAULTS: Duration = Duration::from_secs(30);
const DOCUMENTS: u64 = 1_000;
const DOCUMENT_BYTES: usize = 64 << 10;
const ADDRESS_BYTES: usize = 2_000;

/// Documents that were read a short while ago.
#[derive(Debug)]
pub(super) struct Documents {
    outgoing: Outgoing,
    known: Cache<String, Read<Client>>,
    keys: Cache<String, Read<JwkSet>>,
}

type Read<T> = Arc<Result<T, OAuthError>>;

struct Age;

impl<T> Expiry<String, Read<T>> for Age {
    fn expire_after_create(&self, _: &String, read: &Read<T>, _: Instant) -> Option<Duration> {
        Some(if read.is_ok() { AGE } else { AGE_OF_FAULTS })
    }
}

#[derive(Deserialize)]
struct Document {
    client_id: String,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    client_secret: Option<serde_json::Value>,
}

impl Documents {
    pub(super) fn new(outgoing: Outgoing) -> Self {
        let known = Cache::builder().max_capacity(DOCUMENTS).expire_after(Age).build();
        let keys = Cache::builder().max_capacity(DOCUMENTS).expire_after(Age).build();
        Self { outgoing, known, keys }
    }

    pub(super) async fn client(
        &self,
        id: &str,
        redirects: &RedirectHosts,
    ) -> Result<Client, IdentityError> {
        check_address(id)?;
        let read = async { Arc::new(self.read(id, redirects).await) };
        let known = self.known.get_with_by_ref(id, read).await;
        Result::clone(&known).map_err(IdentityError::from)
    }

    /// Whether this is such an address, and its document is to be read first.
    pub(super) fn is_unread(&self, id: &str) -> bool {
        check_address(id).is_ok() && !self.known.contains_key(id)
    }

    /// The keys that a client publishes at an address (RFC 7517).
    pub(super) async fn keys(&self, uri: &str) -> Result<JwkSet, IdentityError> {
        let read = async { Arc::new(self.read_keys(uri).await) };
        let keys = self.keys.get_with_by_ref(uri, read).await;
        Result::clone(&keys).map_err(IdentityError::from)
    }

    async fn read_keys(&self, uri: &str) -> Result<JwkSet, OAuthError> {
        let keys = self.outgoing.get_json(uri, DOCUMENT_BYTES).await;
        let keys = keys.map_err(|error| wrong(format!("its jwks_uri: {error}")))?;
        serde_json::from_slice(&keys).map_err(|_| wrong("what is at its jwks_uri is no key set"))
    }

    async fn read(&self, id: &str, redirects: &RedirectHosts) -> Result<Client, OAuthError> {
        let document = self.outgoing.get_json(id, DOCUMENT_BYTES).await;
        let document = document.map_err(|error| wrong(format!("its document: {error}")))?;
        judge(id, &document, redirects)
    }
}

fn wrong(text: impl Into<String>) -> OAuthError {
    OAuthError::new("invalid_client", format!("the client cannot be used: {}", text.into()))
}

/// Section 3 of the draft: `https`, a path, and nothing that would make one address two.
fn check_address(id: &str) -> Result<(), OAuthError> {
    let url = Url::parse(id).map_err(|_| wrong("its client_id is not an address"))?;
    let dots = id.split('/').any(|part| [".", ".."].contains(&part));
    let plain = url.scheme() == "https"
        && url.path() != "/"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && !dots
        && url.as_str() == id
        && id.len() <= ADDRESS_BYTES;
    match plain {
        true => Ok(()),
        false => Err(wrong(
            "its client_id must be an https address with a path, without a user, a fragment or dot segments, as browsers would write it",
        )),
    }
}

fn judge(id: &str, json: &[u8], redirects: &RedirectHosts) -> Result<Client, OAuthError> {
    let document: Document =
        serde_json::from_slice(json).map_err(|_| wrong("its document has no client_id"))?;
    if document.client_id != id {
        return Err(wrong("the client_id of its document is not the document's address"));
    }
    let method = document.token_endpoint_auth_method.as_deref();
    if document.client_secret.is_some() || !matches!(method, Some("none" | "private_key_jwt")) {
        return Err(wrong("token_endpoint_auth_method of its document is none or private_key_jwt"));
    }
    let metadata = ClientMetadata::judge(json, redirects)?;
    Ok(Client::of_document(id, metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain() {
        assert!(check_address("https://app.example/client.json").is_ok());
        for bad in [
            "https://app.example",
            "https://app.example/",
            "http://app.example/client.json",
            "https://user@app.example/client.json",
            "https://app.example/client.json#x",
            "https://app.example/a/../client.json",
            "https://APP.example/client.json",
            "https://app.example:443/client.json",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_document_is_of_its_own_address_and_without_secrets() {
        let id = "https://app.example/client.json";
        let judged = |json: serde_json::Value| {
            let json = json.to_string();
            judge(id, json.as_bytes(), &RedirectHosts::default()).map_err(|error| error.code)
        };
        let redirects = ["http://127.0.0.1/cb"];
        let good = serde_json::json!({ "client_id": id, "redirect_uris": redirects, "token_endpoint_auth_method": "none" });
        assert!(judged(good.clone()).is_ok());
        for (name, value) in [
            ("client_id", serde_json::json!("https://other.example/client.json")),
            ("token_endpoint_auth_method", serde_json::json!("client_secret_basic")),
            ("client_secret", serde_json::json!("x")),
            ("redirect_uris", serde_json::json!(["https://evil.example/cb"])),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(judged(bad).is_err(), "{name}");
        }
    }
}
