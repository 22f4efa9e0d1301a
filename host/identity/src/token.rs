//! Access tokens: JSON Web Tokens as in RFC 9068, signed with EdDSA.

use crate::{Identity, IdentityError, OAuthError, authenticate::Seen, secret};
use arc_swap::ArcSwapOption;
use jsonwebtoken::{Algorithm, Header, Validation, errors::ErrorKind};
use portolan_vocabulary::{Timestamp, new_identifier};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The `typ` of an access token (RFC 9068, section 2.1); another kind of JWT is refused.
const TYPE: &str = "at+jwt";
/// Seconds that the configuration may give an access token.
pub const SHORTEST_LIFETIME_S: u64 = 120;
pub const LONGEST_LIFETIME_S: u64 = 24 * 3600;

/// RFC 9068, section 2.2.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Claims {
    pub iss: String,
    pub sub: String,
    pub aud: String,
    pub client_id: String,
    pub scope: String,
    pub iat: u64,
    pub exp: u64,
    pub jti: String,
    /// What a person let the client do, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<String>,
}

/// What a token whose signature and claims are right says.
#[derive(Debug)]
pub(super) struct Verified {
    /// What was read of its agent a moment ago.
    pub(super) seen: ArcSwapOption<Seen>,
    pub(super) agent_id: Arc<str>,
    pub(super) client_id: Arc<str>,
    pub(super) scopes: Arc<[String]>,
    pub(super) audience: Arc<str>,
    /// What must not have ended: the token, its client, its grant.
    pub(super) living: Vec<String>,
    /// Seconds since the Unix epoch.
    pub(super) expires_at: u64,
}

/// What a token is to say.
pub(super) struct Terms {
    pub(super) agent_id: String,
    pub(super) client_id: String,
    /// Space-separated.
    pub(super) scope: String,
    pub(super) audience: String,
    pub(super) grant_id: Option<String>,
}

/// A token response (RFC 6749, section 5.1).
pub struct IssuedToken {
    pub access_token: String,
    pub expires_in: u64,
    /// Space-separated.
    pub scope: String,
    pub refresh_token: Option<String>,
}

impl Identity {
    /// The audience that a resource indicator (RFC 8707) means; the REST API if there is none.
    pub(super) fn audience_of(&self, resource: Option<&str>) -> Result<String, IdentityError> {
        let Some(resource) = resource else { return Ok(self.audience.clone()) };
        let wanted = resource.trim_end_matches('/');
        let known = [&self.audience, &self.mcp_audience].into_iter().find(|known| *known == wanted);
        let unknown = || {
            let text = format!("the resources are {} and {}", self.audience, self.mcp_audience);
            OAuthError::new("invalid_target", text).into()
        };
        known.cloned().ok_or_else(unknown)
    }

    pub(super) async fn issue(&self, terms: Terms) -> Result<IssuedToken, IdentityError> {
        let now = Timestamp::now();
        let key = self.keys.newest().await?;
        let claims = Claims {
            iss: self.issuer.clone(),
            sub: terms.agent_id,
            aud: terms.audience,
            client_id: terms.client_id,
            scope: terms.scope.clone(),
            iat: now.as_secs(),
            exp: now.as_secs() + self.settings.access_seconds,
            jti: new_identifier("tok", now, secret::random()?),
            grant_id: terms.grant_id,
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(TYPE.to_owned());
        header.kid = Some(key.id.clone());
        let access_token = jsonwebtoken::encode(&header, &claims, &key.encoding)
            .map_err(|error| IdentityError::Key(error.to_string()))?;
        let expires_in = self.settings.access_seconds;
        Ok(IssuedToken { access_token, expires_in, scope: terms.scope, refresh_token: None })
    }

    /// What the token says, from memory if it was verified before. Never past its expiry.
    pub(super) async fn verify(&self, token: &str) -> Result<Arc<Verified>, IdentityError> {
        let verified = match self.verified.get(token) {
            Some(verified) => verified,
            None => {
                let verified = Arc::new(Verified::from(self.verify_signature(token).await?));
                self.verified.insert(token.into(), Arc::clone(&verified));
                verified
            }
        };
        if verified.expires_at <= Timestamp::now().as_secs() {
            return Err(IdentityError::TokenExpired);
        }
        Ok(verified)
    }

    /// The claims of a token of this issuer's, for whichever audience.
    pub(super) async fn verify_signature(&self, token: &str) -> Result<Claims, IdentityError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| IdentityError::TokenInvalid)?;
        let (Some(TYPE), Some(key)) = (header.typ.as_deref(), &header.kid) else {
            return Err(IdentityError::TokenInvalid);
        };
        let key = self.keys.find(key).await?.ok_or(IdentityError::TokenInvalid)?;
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = 0;
        validation.validate_aud = false;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        let token = jsonwebtoken::decode::<Claims>(token, &key.decoding, &validation);
        let token = token.map_err(|error| match error.kind() {
            ErrorKind::ExpiredSignature => IdentityError::TokenExpired,
            _ => IdentityError::TokenInvalid,
        })?;
        Ok(token.claims)
    }
}

impl From<Claims> for Verified {
    fn from(claims: Claims) -> Self {
        let living = [Some(claims.jti), Some(claims.client_id.clone()), claims.grant_id];
        Self {
            seen: ArcSwapOption::empty(),
            agent_id: Arc::from(claims.sub),
            client_id: Arc::from(claims.client_id),
            scopes: claims.scope.split(' ').map(str::to_owned).collect(),
            audience: Arc::from(claims.aud),
            living: living.into_iter().flatten().collect(),
            expires_at: claims.exp,
        }
    }
}
