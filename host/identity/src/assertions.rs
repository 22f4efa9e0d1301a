//! Authentication of clients: by a secret, or by an assertion that they sign (RFC 7523).

use crate::{
    auth_action::AuthAction,
    client::{Client, Credentials},
    error::IdentityError,
    failed_attempts::FailedAttempt,
    identity::Identity,
    oauth::OAuthError,
    records::{RevocationRecord, commit, write},
    secret,
};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation,
    jwk::{Jwk, JwkSet},
};
use portolan_store::{Expectation, StateError};
use portolan_vocabulary::{Digest, Timestamp};
use serde::Deserialize;
use std::net::IpAddr;

/// Algorithms of client assertions.
pub const ASSERTION_ALGORITHMS: [(&str, Algorithm); 5] = [
    ("EdDSA", Algorithm::EdDSA),
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("RS256", Algorithm::RS256),
    ("PS256", Algorithm::PS256),
];
/// The longest life of an assertion. Its use is stored until its expiry, so that it works once.
const MAX_ASSERTION_LIFE_S: u64 = 3600;
/// The tolerance for a client's clock.
const CLOCK_SKEW_S: u64 = 30;

/// The claims of an assertion (RFC 7523, section 3).
#[derive(Debug, Clone, Deserialize)]
struct Assertion {
    iss: String,
    sub: String,
    exp: u64,
    #[serde(default)]
    nbf: Option<u64>,
    jti: String,
}

impl Assertion {
    fn is_valid_at(&self, now: Timestamp) -> bool {
        let now_s = now.as_secs();
        self.exp + CLOCK_SKEW_S >= now_s
            && self.nbf.is_none_or(|not_before| not_before <= now_s + CLOCK_SKEW_S)
    }
}

fn invalid_client() -> IdentityError {
    OAuthError::new("invalid_client", "the client is unknown, or its secret is wrong").into()
}

impl Identity {
    /// Authenticates a client by the method that it registered. A client at an address that has sent wrong
    /// secrets has to wait longer and longer.
    pub async fn authenticate_client(
        &self,
        credentials: &Credentials,
        address: Option<IpAddr>,
    ) -> Result<Client, IdentityError> {
        let client = match credentials.client_id() {
            Some(id) => self.lookup_client(&id).await?,
            None => None,
        };
        let verified = match &client {
            Some(client) => self.verify_credentials(client, credentials, address).await,
            None => Err(invalid_client()),
        };
        let outcome = match &verified {
            Err(IdentityError::SlowDown { .. }) => "slow_down",
            Err(IdentityError::OAuth(error)) => error.code,
            _ => return verified.and(client.ok_or_else(invalid_client)),
        };
        // An id that no client has is an arbitrary text.
        self.record_failure(FailedAttempt {
            client_id: client.as_ref().map(|client| client.id.clone()),
            agent_id: client.and_then(|client| client.agent_id),
            address,
            ..FailedAttempt::of(AuthAction::ClientRefused, outcome)
        });
        verified.and(Err(invalid_client()))
    }

    async fn verify_credentials(
        &self,
        client: &Client,
        credentials: &Credentials,
        address: Option<IpAddr>,
    ) -> Result<(), IdentityError> {
        let method = match credentials {
            Credentials::Secret { .. } => "client_secret",
            Credentials::Public { .. } => "none",
            Credentials::Assertion { .. } => "private_key_jwt",
        };
        // The prefix `client_secret` covers `client_secret_basic` and `client_secret_post`.
        if !client.metadata.token_endpoint_auth_method.starts_with(method) {
            return Err(invalid_client());
        }
        match credentials {
            Credentials::Public { .. } => Ok(()),
            Credentials::Secret { secret, .. } => self.verify_secret(client, secret, address),
            Credentials::Assertion { assertion, .. } => self.use_assertion(client, assertion).await,
        }
    }

    fn verify_secret(
        &self,
        client: &Client,
        secret: &str,
        address: Option<IpAddr>,
    ) -> Result<(), IdentityError> {
        let now = self.clock.now();
        if let Some(wait) = self.throttle.wait(&client.id, address, now) {
            return Err(IdentityError::slow_down(wait));
        }
        let is_match = |hash: &String| secret::matches(secret, hash);
        // Every hash is compared, so that the duration does not reveal which one matched.
        let hashes = client.secret_hashes.iter();
        if hashes.map(is_match).fold(false, |one, other| one | other) {
            self.throttle.forget(&client.id, address);
            return Ok(());
        }
        self.throttle.count(&client.id, address, now);
        Err(invalid_client())
    }

    /// Verifies an assertion and records its use: each works once (RFC 7523, section 3).
    async fn use_assertion(&self, client: &Client, text: &str) -> Result<(), IdentityError> {
        let metadata = &client.metadata;
        let keys = match (&metadata.jwks, &metadata.jwks_uri) {
            (Some(keys), _) => keys.clone(),
            (None, Some(uri)) => self.documents.keys(uri, self.clock.now()).await?,
            (None, None) => return Err(invalid_client()),
        };
        let mut unit = self.unit();
        let now = unit.now();
        let assertion = verify_assertion(text, &keys, &self.assertion_audiences())
            .filter(|assertion| assertion.is_valid_at(now))
            .filter(|assertion| assertion.iss == client.id && assertion.sub == client.id)
            .ok_or_else(invalid_client)?;
        if assertion.exp > now.as_secs() + MAX_ASSERTION_LIFE_S + CLOCK_SKEW_S {
            let text = format!("an assertion must expire within {MAX_ASSERTION_LIFE_S} seconds");
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let used = format!("assertion {} {}", client.id, assertion.jti);
        let used = Digest::of(used.as_bytes()).hex();
        let record = RevocationRecord { expires_at: (assertion.exp + CLOCK_SKEW_S) * 1000 };
        let written =
            write(&mut unit, &self.records.revoked, &used, &record, Expectation::Absent).await;
        match written {
            Err(StateError::Conflict) => return Err(invalid_client()),
            other => other?,
        }
        if commit(unit).await? { Ok(()) } else { Err(invalid_client()) }
    }

    /// Returns the issuer, and the token endpoint, which older clients name (RFC 7523, section 3).
    fn assertion_audiences(&self) -> [String; 2] {
        [self.issuer.clone(), format!("{}/oauth/token", self.issuer)]
    }
}

/// Returns the claims of an assertion for one of these audiences, if one of these keys signed it. Its
/// times are not checked here, because the library would read the system's time.
fn verify_assertion(text: &str, keys: &JwkSet, audiences: &[String]) -> Option<Assertion> {
    let header = jsonwebtoken::decode_header(text).ok()?;
    ASSERTION_ALGORITHMS.iter().find(|(_, algorithm)| *algorithm == header.alg)?;
    let mut validation = Validation::new(header.alg);
    validation.validate_exp = false;
    validation.set_audience(audiences);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let key = DecodingKey::from_jwk(named_key(keys, header.kid.as_deref())?).ok()?;
    jsonwebtoken::decode::<Assertion>(text, &key, &validation).ok().map(|token| token.claims)
}

/// Returns the key that an assertion names. It need not name the only key of a client.
fn named_key<'k>(keys: &'k JwkSet, id: Option<&str>) -> Option<&'k Jwk> {
    let is_named = |key: &&Jwk| key.common.key_id.as_deref() == id;
    match keys.keys.as_slice() {
        [only] => {
            Some(only).filter(|key| id.is_none() || key.common.key_id.is_none() || is_named(key))
        }
        several => several.iter().find(is_named).filter(|_| id.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_is_valid_from_nbf_to_exp_with_a_tolerance() {
        let assertion = |exp: u64, nbf: Option<u64>| Assertion {
            iss: String::new(),
            sub: String::new(),
            exp,
            nbf,
            jti: String::new(),
        };
        let now = Timestamp::from_millis(1_000_000);
        assert!(assertion(1_000 - CLOCK_SKEW_S, None).is_valid_at(now));
        assert!(!assertion(999 - CLOCK_SKEW_S, None).is_valid_at(now));
        assert!(assertion(2_000, Some(1_000 + CLOCK_SKEW_S)).is_valid_at(now));
        assert!(!assertion(2_000, Some(1_001 + CLOCK_SKEW_S)).is_valid_at(now));
    }
}
