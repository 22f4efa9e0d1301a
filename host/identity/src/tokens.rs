//! Issues and verifies access tokens: JSON Web Tokens as in RFC 9068, signed with EdDSA.

use crate::{
    error::IdentityError,
    identity::Identity,
    oauth::OAuthError,
    secret,
    token::{Claims, IssuedToken, TOKEN_TYPE, TokenTerms, VerifiedToken},
};
use jsonwebtoken::{Algorithm, Header, Validation};
use portolan_vocabulary::new_identifier;
use std::sync::Arc;

impl Identity {
    /// Returns the audience that a resource indicator (RFC 8707) names: that of the REST API if there is
    /// none, and that of MCP for each view of its endpoint. An unknown resource is an error.
    pub(crate) fn audience_of(&self, resource: Option<&str>) -> Result<String, IdentityError> {
        let Some(resource) = resource else { return Ok(self.audience.clone()) };
        let wanted = resource.trim_end_matches('/');
        let is_view = wanted
            .strip_prefix(&self.mcp_audience)
            .is_some_and(|rest| rest.starts_with(['/', '?']));
        let known = [&self.audience, &self.mcp_audience].into_iter().find(|known| *known == wanted);
        let known = known.or(is_view.then_some(&self.mcp_audience));
        let unknown = || {
            let text = format!("resource must be {} or {}", self.audience, self.mcp_audience);
            OAuthError::new("invalid_target", text).into()
        };
        known.cloned().ok_or_else(unknown)
    }

    /// Issues an access token without a refresh token.
    pub(crate) async fn issue(&self, terms: TokenTerms) -> Result<IssuedToken, IdentityError> {
        let now = self.clock.now();
        let key = self.keys.newest().await?;
        let claims = Claims {
            iss: self.issuer.clone(),
            sub: terms.agent_id,
            aud: terms.audience,
            client_id: terms.client_id,
            scope: terms.scope.clone(),
            iat: now.as_secs(),
            exp: now.as_secs() + self.settings.access_seconds,
            nbf: None,
            jti: new_identifier("tok", now, secret::random()),
            grant_id: terms.grant_id,
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(TOKEN_TYPE.to_owned());
        header.kid = Some(key.id.clone());
        let access_token = key.sign(&header, &claims)?;
        let expires_in = self.settings.access_seconds;
        Ok(IssuedToken { access_token, expires_in, scope: terms.scope, refresh_token: None })
    }

    /// Verifies a token for any audience. The result is cached.
    pub(crate) async fn verify(&self, token: &str) -> Result<Arc<VerifiedToken>, IdentityError> {
        if let Some(verified) = self.verified.get(token) {
            // The cache does not know of expiry.
            self.ensure_unexpired(verified.expires_at)?;
            return Ok(verified);
        }
        // Boxed, because few requests get here, and the future of each would have room for it.
        let claims = Box::pin(self.verify_signature(token)).await?;
        let verified = Arc::new(VerifiedToken::from(claims));
        self.verified.insert(token.into(), Arc::clone(&verified));
        Ok(verified)
    }

    /// Returns the claims of a token that this issuer signed, for any audience, and that has not
    /// expired.
    pub(crate) async fn verify_signature(&self, token: &str) -> Result<Claims, IdentityError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| IdentityError::TokenInvalid)?;
        let (Some(TOKEN_TYPE), Some(key)) = (header.typ.as_deref(), &header.kid) else {
            return Err(IdentityError::TokenInvalid);
        };
        let key = self.keys.find(key).await?.ok_or(IdentityError::TokenInvalid)?;
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.validate_aud = false;
        // The library would read the system's time.
        validation.validate_exp = false;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        let token = jsonwebtoken::decode::<Claims>(token, &key.decoding, &validation)
            .map_err(|_| IdentityError::TokenInvalid)?;
        let claims = token.claims;
        self.ensure_unexpired(claims.exp)?;
        if claims.nbf.is_some_and(|not_before| not_before > self.clock.now().as_secs()) {
            return Err(IdentityError::TokenInvalid);
        }
        Ok(claims)
    }

    fn ensure_unexpired(&self, expires_at_s: u64) -> Result<(), IdentityError> {
        match expires_at_s > self.clock.now().as_secs() {
            true => Ok(()),
            false => Err(IdentityError::TokenExpired),
        }
    }
}
