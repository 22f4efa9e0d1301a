//! Ending tokens, and telling their clients what is left of them (RFC 7009, RFC 7662).

use crate::{
    Client, Identity, IdentityError, OAuthError,
    grants::Refresh,
    records::{GrantRecord, commit, read, unit},
    token::{Claims, Verified},
};
use serde_json::{Value, json};

impl Identity {
    /// Ends a token of this client's. Another one's, and what is no token, is left as it is: the
    /// client is told the same (RFC 7009, section 2.2).
    pub async fn revoke_token(&self, client: &Client, token: &str) -> Result<(), IdentityError> {
        if let Some(refresh) = self.refresh_tokens.read::<Refresh>(token) {
            let mut unit = unit(&self.store);
            let grant =
                read::<GrantRecord>(&mut unit, &self.records.grants, &refresh.grant_id).await?;
            return match grant.filter(|(grant, _)| grant.client_id == client.id) {
                Some(_) => self.end_grant(&refresh.grant_id).await,
                None => Ok(()),
            };
        }
        match self.verify_signature(token).await {
            Ok(claims) if claims.client_id == client.id => {
                let mut unit = unit(&self.store);
                self.end(&mut unit, &claims.jti).await?;
                commit(unit).await?;
                self.look_again();
                Ok(())
            }
            Ok(_) | Err(IdentityError::TokenInvalid | IdentityError::TokenExpired) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// RFC 7662, section 2.2. A token that is no good, or not this client's, is only inactive.
    pub async fn introspect(&self, client: &Client, token: &str) -> Result<Value, IdentityError> {
        // Whoever asks proves who they are (section 2.1).
        if client.is_public() {
            let text = "a client without credentials cannot ask about tokens";
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let inactive = json!({ "active": false });
        if let Some(refresh) = self.refresh_tokens.read::<Refresh>(token) {
            return self
                .introspect_refresh(client, &refresh)
                .await
                .map(|it| it.unwrap_or(inactive));
        }
        let claims: Claims = match self.verify_signature(token).await {
            Ok(claims) if claims.client_id == client.id => claims,
            Ok(_) | Err(IdentityError::TokenInvalid | IdentityError::TokenExpired) => {
                return Ok(inactive);
            }
            Err(error) => return Err(error),
        };
        let living = Verified::from(claims.clone()).living;
        let mut unit = unit(&self.store);
        let ended = self.has_ended(&mut unit, &living).await?;
        if ended || self.read_agent(&mut unit, &claims.sub).await?.is_none() {
            return Ok(inactive);
        }
        Ok(json!({
            "active": true,
            "token_type": "Bearer",
            "iss": claims.iss,
            "sub": claims.sub,
            "aud": claims.aud,
            "client_id": claims.client_id,
            "scope": claims.scope,
            "iat": claims.iat,
            "exp": claims.exp,
            "jti": claims.jti,
        }))
    }

    async fn introspect_refresh(
        &self,
        client: &Client,
        refresh: &Refresh,
    ) -> Result<Option<Value>, IdentityError> {
        let mut unit = unit(&self.store);
        let grant = read::<GrantRecord>(&mut unit, &self.records.grants, &refresh.grant_id).await?;
        let now = unit.now().as_millis();
        let good = grant.map(|(grant, _)| grant).filter(|grant| {
            grant.client_id == client.id
                && grant.generation == refresh.generation
                && grant.expires_at > now
        });
        let Some(grant) = good else { return Ok(None) };
        let living = self.read_agent(&mut unit, &grant.agent_id).await?.is_some();
        Ok(living.then(|| {
            json!({
                "active": true,
                "token_type": "refresh_token",
                "iss": self.issuer,
                "sub": grant.agent_id,
                "aud": grant.audience,
                "client_id": grant.client_id,
                "scope": grant.scope,
                "exp": refresh.exp,
            })
        }))
    }
}
