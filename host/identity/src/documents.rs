//! Clients that are known by the address of their metadata document
//! (draft-ietf-oauth-client-id-metadata-document).

use crate::{
    client::Client,
    error::IdentityError,
    metadata::{ClientMetadata, find_key_fault},
    oauth::OAuthError,
    redirects::RedirectHosts,
};
use jsonwebtoken::jwk::JwkSet;
use moka::{Expiry, future::Cache};
use portolan_outgoing::Outgoing;
use portolan_vocabulary::{Bucket, MINUTE, Timestamp};
use serde::Deserialize;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use url::Url;

/// The time for which a document is cached.
const AGE: Duration = Duration::from_secs(300);
/// The time for which a failure to fetch a document is cached.
const FAILURE_AGE: Duration = Duration::from_secs(30);
const DOCUMENTS: u64 = 1_000;
const DOCUMENT_BYTES: usize = 64 << 10;
const ADDRESS_BYTES: usize = 2_000;
/// The maximum number of requests in a minute to one server, whoever names its addresses.
const SERVER_REQUESTS: u64 = 30;

/// The cached documents and key sets, and the failures to fetch them. They expire by real time and not by the
/// host's clock, because they are copies of another server's documents.
#[derive(Debug)]
pub(crate) struct Documents {
    outgoing: Outgoing,
    clients: Cache<String, Fetched<Client>>,
    keys: Cache<String, Fetched<JwkSet>>,
    /// The requests to each server, by its host and port.
    requests: moka::sync::Cache<String, Arc<Mutex<Bucket>>>,
}

type Fetched<T> = Arc<Result<T, OAuthError>>;

struct DocumentExpiry;

impl<T> Expiry<String, Fetched<T>> for DocumentExpiry {
    fn expire_after_create(
        &self,
        _: &String,
        fetched: &Fetched<T>,
        _: Instant,
    ) -> Option<Duration> {
        Some(if fetched.is_ok() { AGE } else { FAILURE_AGE })
    }
}

/// The members of a document that are not client metadata, or for which a document has stricter
/// rules.
#[derive(Deserialize)]
struct Document {
    client_id: String,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    client_secret: Option<serde_json::Value>,
}

impl Documents {
    pub(crate) fn new(outgoing: Outgoing) -> Self {
        let clients = Cache::builder().max_capacity(DOCUMENTS).expire_after(DocumentExpiry).build();
        let keys = Cache::builder().max_capacity(DOCUMENTS).expire_after(DocumentExpiry).build();
        let requests =
            moka::sync::Cache::builder().max_capacity(DOCUMENTS).time_to_idle(MINUTE).build();
        Self { outgoing, clients, keys, requests }
    }

    /// Returns the client whose document is at the address `id`, from the cache or from that
    /// address.
    pub(crate) async fn client(
        &self,
        id: &str,
        redirects: &RedirectHosts,
        now: Timestamp,
    ) -> Result<Client, IdentityError> {
        ensure_plain_address(id)?;
        let fetch = async { Arc::new(self.fetch(id, redirects, now).await) };
        let client = self.clients.get_with_by_ref(id, fetch).await;
        Result::clone(&client).map_err(IdentityError::from)
    }

    /// Returns whether this is the address of a document that must be fetched first.
    pub(crate) fn is_missing(&self, id: &str) -> bool {
        ensure_plain_address(id).is_ok() && !self.clients.contains_key(id)
    }

    /// Returns the keys that a client publishes at an address (RFC 7517).
    pub(crate) async fn keys(&self, uri: &str, now: Timestamp) -> Result<JwkSet, IdentityError> {
        let fetch = async { Arc::new(self.fetch_keys(uri, now).await) };
        let keys = self.keys.get_with_by_ref(uri, fetch).await;
        Result::clone(&keys).map_err(IdentityError::from)
    }

    async fn fetch_keys(&self, uri: &str, now: Timestamp) -> Result<JwkSet, OAuthError> {
        self.count_request(uri, now)?;
        let keys = self.outgoing.get_json(uri, DOCUMENT_BYTES).await;
        let keys = keys.map_err(|error| unusable(format!("its jwks_uri: {error}")))?;
        let keys: JwkSet = serde_json::from_slice(&keys)
            .map_err(|_| unusable("the document at its jwks_uri is not a key set"))?;
        match find_key_fault(&keys) {
            None => Ok(keys),
            Some(fault) => Err(unusable(format!("the key set at its jwks_uri {fault}"))),
        }
    }

    /// Counts a request to the server of an address.
    fn count_request(&self, address: &str, now: Timestamp) -> Result<(), OAuthError> {
        let server = Url::parse(address).ok().map(|url| url.authority().to_owned());
        let bucket = self.requests.get_with(server.unwrap_or_default(), Arc::default);
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let text = "too many documents of this client's server were read; try again in a minute";
        *bucket = bucket
            .take(1, (SERVER_REQUESTS, MINUTE), now)
            .map_err(|_wait| OAuthError::new("temporarily_unavailable", text))?;
        Ok(())
    }

    async fn fetch(
        &self,
        id: &str,
        redirects: &RedirectHosts,
        now: Timestamp,
    ) -> Result<Client, OAuthError> {
        self.count_request(id, now)?;
        let document = self.outgoing.get_json(id, DOCUMENT_BYTES).await;
        let document = document.map_err(|error| unusable(format!("its document: {error}")))?;
        parse(id, &document, redirects)
    }
}

fn unusable(text: impl Into<String>) -> OAuthError {
    OAuthError::new("invalid_client", format!("the client cannot be used: {}", text.into()))
}

/// Refuses an address that cannot name a client (section 3 of the draft): it must be `https` with a
/// path, in its normal form.
fn ensure_plain_address(id: &str) -> Result<(), OAuthError> {
    let url = Url::parse(id).map_err(|_| unusable("its client_id is not an address"))?;
    let has_dot_segments = id.split('/').any(|part| [".", ".."].contains(&part));
    let is_plain = url.scheme() == "https"
        && url.path() != "/"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && !has_dot_segments
        && url.as_str() == id
        && id.len() <= ADDRESS_BYTES;
    match is_plain {
        true => Ok(()),
        false => Err(unusable(
            "its client_id must be an https address with a path, without a user, a fragment or dot segments, as browsers would write it",
        )),
    }
}

/// Parses the document at the address `id`.
fn parse(id: &str, json: &[u8], redirects: &RedirectHosts) -> Result<Client, OAuthError> {
    let document: Document =
        serde_json::from_slice(json).map_err(|_| unusable("its document has no client_id"))?;
    if document.client_id != id {
        return Err(unusable("the client_id of its document is not the document's address"));
    }
    let method = document.token_endpoint_auth_method.as_deref();
    if document.client_secret.is_some() || !matches!(method, Some("none" | "private_key_jwt")) {
        return Err(unusable(
            "token_endpoint_auth_method of its document must be none or private_key_jwt",
        ));
    }
    let metadata = ClientMetadata::parse(json, redirects)?;
    Ok(Client::from_document(id, metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain() {
        assert!(ensure_plain_address("https://app.example/client.json").is_ok());
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
            assert!(ensure_plain_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn requests_to_a_server_are_limited_by_the_time_of_the_caller() {
        let documents = Documents::new(Outgoing::new(&[], &[], 8081).unwrap());
        let address = "https://app.example/client.json";
        let at = Timestamp::from_millis(1_000_000);
        for _ in 0..SERVER_REQUESTS {
            documents.count_request(address, at).unwrap();
        }
        let refused = documents.count_request("https://app.example/keys.json", at);
        assert_eq!(refused.map_err(|error| error.code), Err("temporarily_unavailable"));
        assert!(documents.count_request("https://other.example/client.json", at).is_ok());
        assert!(documents.count_request(address, at.plus(MINUTE)).is_ok());
    }

    #[test]
    fn a_document_names_its_own_address_and_has_no_secret() {
        let id = "https://app.example/client.json";
        let parsed = |json: serde_json::Value| {
            let json = json.to_string();
            parse(id, json.as_bytes(), &RedirectHosts::default()).map_err(|error| error.code)
        };
        let redirects = ["http://127.0.0.1/cb"];
        let good = serde_json::json!({ "client_id": id, "redirect_uris": redirects, "token_endpoint_auth_method": "none" });
        assert!(parsed(good.clone()).is_ok());
        for (name, value) in [
            ("client_id", serde_json::json!("https://other.example/client.json")),
            ("token_endpoint_auth_method", serde_json::json!("client_secret_basic")),
            ("client_secret", serde_json::json!("x")),
            ("redirect_uris", serde_json::json!(["https://evil.example/cb"])),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(parsed(bad).is_err(), "{name}");
        }
    }
}
