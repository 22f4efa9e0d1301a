//! Access tokens: JSON Web Tokens as in RFC 9068, signed with EdDSA.

use crate::{
    identity::{
        Identity, IdentityError,
        records::{ClientRecord, read, unit},
        secret,
    },
    vocabulary::{Timestamp, new_identifier},
};
use jsonwebtoken::{Algorithm, Header, Validation, errors::ErrorKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// Every scope there is.
pub const SCOPES: [&str; 3] = ["svc.read", "svc.write", "svc.events"];

/// The `typ` of an access token (RFC 9068, section 2.1); another kind of JWT is refused.
const TYPE: &str = "at+jwt";
const LIFETIME_S: u64 = 3600;

/// RFC 9068, section 2.2.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: String,
    client_id: String,
    scope: String,
    iat: u64,
    exp: u64,
    jti: String,
}

/// What a token whose signature and claims are right says.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) agent_id: Arc<str>,
    pub(super) client_id: Arc<str>,
    pub(super) scopes: Arc<[String]>,
    /// Seconds since the Unix epoch.
    pub(super) expires_at: u64,
}

/// A token response (RFC 6749, section 5.1).
pub struct IssuedToken {
    pub access_token: String,
    pub expires_in: u64,
    /// Space-separated.
    pub scope: String,
}

impl Identity {
    /// The client-credentials grant (RFC 6749, section 4.4). Without a scope, all of them.
    pub async fn grant_client_credentials(
        &self,
        client_id: &str,
        client_secret: &str,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<IssuedToken, IdentityError> {
        let mut unit = unit(&self.store);
        let client = read::<ClientRecord>(&mut unit, &self.records.clients, client_id).await?;
        let (client, _) = client.ok_or(IdentityError::ClientInvalid)?;
        let by_secret = secret::matches(client_secret, &client.secret_hash);
        let by_key = secret::matches(client_secret, &client.key_hash);
        if !by_secret && !by_key {
            return Err(IdentityError::ClientInvalid);
        }
        if resource.is_some_and(|resource| resource.trim_end_matches('/') != self.audience) {
            return Err(IdentityError::ResourceUnknown);
        }
        let scope = match scope.map(str::trim).filter(|scope| !scope.is_empty()) {
            None => SCOPES.join(" "),
            Some(scope) if scope.split_whitespace().all(|name| SCOPES.contains(&name)) => {
                scope.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Some(_) => return Err(IdentityError::ScopeUnknown),
        };
        self.issue(client.agent_id, client_id.to_owned(), scope)
    }

    fn issue(
        &self,
        agent_id: String,
        client_id: String,
        scope: String,
    ) -> Result<IssuedToken, IdentityError> {
        let now = Timestamp::now();
        let claims = Claims {
            iss: self.issuer.clone(),
            sub: agent_id,
            aud: self.audience.clone(),
            client_id,
            scope: scope.clone(),
            iat: now.as_secs(),
            exp: now.as_secs() + LIFETIME_S,
            jti: new_identifier("tok", now, secret::random()?),
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(TYPE.to_owned());
        header.kid = Some(self.key.id.clone());
        let access_token = jsonwebtoken::encode(&header, &claims, &self.key.encoding)
            .map_err(|error| IdentityError::Key(error.to_string()))?;
        Ok(IssuedToken { access_token, expires_in: LIFETIME_S, scope })
    }

    /// What the token says, from memory if it was verified before. Never past its expiry.
    pub(super) fn verify(&self, token: &str) -> Result<Arc<Verified>, IdentityError> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let verified = match self.verified.get(&digest) {
            Some(verified) => verified,
            None => {
                let verified = Arc::new(self.verify_signature(token)?);
                self.verified.insert(digest, Arc::clone(&verified));
                verified
            }
        };
        if verified.expires_at <= Timestamp::now().as_secs() {
            return Err(IdentityError::TokenExpired);
        }
        Ok(verified)
    }

    fn verify_signature(&self, token: &str) -> Result<Verified, IdentityError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| IdentityError::TokenInvalid)?;
        if header.typ.as_deref() != Some(TYPE) || header.kid.as_deref() != Some(&self.key.id) {
            return Err(IdentityError::TokenInvalid);
        }
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = 0;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let claims = jsonwebtoken::decode::<Claims>(token, &self.key.decoding, &validation)
            .map_err(|error| match error.kind() {
                ErrorKind::ExpiredSignature => IdentityError::TokenExpired,
                _ => IdentityError::TokenInvalid,
            })?
            .claims;
        // Looked at after the signature: a forged token is told nothing about audiences.
        if claims.aud != self.audience {
            return Err(IdentityError::OtherAudience);
        }
        if claims.iss != self.issuer {
            return Err(IdentityError::TokenInvalid);
        }
        Ok(Verified {
            agent_id: Arc::from(claims.sub),
            client_id: Arc::from(claims.client_id),
            scopes: claims.scope.split(' ').map(str::to_owned).collect(),
            expires_at: claims.exp,
        })
    }
}
