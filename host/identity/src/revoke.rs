//! Revocation and introspection of tokens (RFC 7009, RFC 7662), and the revocation of an agent by an operator.

use crate::{
    auth_action::AuthAction,
    client::Client,
    error::IdentityError,
    grants::RefreshClaims,
    identity::Identity,
    oauth::OAuthError,
    page_agent::IDENTITY_TYPE,
    records::{AgentRecord, GrantRecord, commit, commit_or_conflict, read},
    sessions::ATTEMPTS,
    token::{Claims, VerifiedToken},
};
use portolan_store::{AuditRecord, StateError};
use serde_json::{Value, json};

impl Identity {
    /// Revokes an agent for good, as an operator has decided. `row` is the row of the decision, in the same commit.
    /// Returns whether it was not revoked before (otherwise no row is written); `None` if there is no such agent. The
    /// agent of a person's page cannot be revoked: the page would make it again.
    pub async fn revoke_agent_for_operator(
        &self,
        agent_id: &str,
        row: &AuditRecord,
    ) -> Result<Option<bool>, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let found = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
            let found = found.filter(|(agent, _)| agent.identity_type != IDENTITY_TYPE);
            let Some((agent, _)) = found else { return Ok(None) };
            if agent.revoked_at.is_some() {
                return Ok(Some(false));
            }
            self.revoke_agent(&mut unit, agent_id).await?;
            unit.record_audit(row.clone());
            if commit(unit).await? {
                self.invalidate_standings();
                return Ok(Some(true));
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Revokes a token of this client, a refresh token with its whole grant. Any other text is ignored, and
    /// the client gets the same answer (RFC 7009, section 2.2).
    pub async fn revoke_token(&self, client: &Client, token: &str) -> Result<(), IdentityError> {
        if let Some(refresh) = self.refresh_tokens.verify::<RefreshClaims>(token, self.clock.now())
        {
            let mut unit = self.unit();
            let grant =
                read::<GrantRecord>(&mut unit, &self.records.grants, &refresh.grant_id).await?;
            return match grant.filter(|(grant, _)| grant.client_id == client.id) {
                Some((grant, _)) => {
                    let row = AuditRecord {
                        client_id: Some(grant.client_id),
                        agent_id: Some(grant.agent_id),
                        ..self.audit_row(AuthAction::GrantRevoked)
                    };
                    self.revoke_grant(&refresh.grant_id, Some(row)).await
                }
                None => Ok(()),
            };
        }
        match self.verify_signature(token).await {
            Ok(claims) if claims.client_id == client.id => {
                let mut unit = self.unit();
                self.record_revocation(&mut unit, &claims.jti).await?;
                unit.record_audit(AuditRecord {
                    client_id: Some(claims.client_id),
                    agent_id: Some(claims.sub),
                    ..self.audit_row(AuthAction::TokenRevoked)
                });
                commit_or_conflict(unit).await?;
                self.invalidate_standings();
                Ok(())
            }
            Ok(_) | Err(IdentityError::TokenInvalid | IdentityError::TokenExpired) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Describes a token of this client (RFC 7662, section 2.2). For a token of another client, a
    /// revoked or expired one, and any other text, it says only `active: false`.
    pub async fn introspect_token(
        &self,
        client: &Client,
        token: &str,
    ) -> Result<Value, IdentityError> {
        // A client must authenticate to introspect a token (section 2.1).
        if client.is_public() {
            let text = "a client without credentials cannot introspect tokens";
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let inactive = json!({ "active": false });
        if let Some(refresh) = self.refresh_tokens.verify::<RefreshClaims>(token, self.clock.now())
        {
            let described = self.introspect_refresh(client, &refresh).await?;
            return Ok(described.unwrap_or(inactive));
        }
        let claims: Claims = match self.verify_signature(token).await {
            Ok(claims) if claims.client_id == client.id => claims,
            Ok(_) | Err(IdentityError::TokenInvalid | IdentityError::TokenExpired) => {
                return Ok(inactive);
            }
            Err(error) => return Err(error),
        };
        let revocable_ids = VerifiedToken::from(claims.clone()).revocable_ids;
        let mut unit = self.unit();
        let revoked = self.is_any_revoked(&mut unit, &revocable_ids).await?;
        if revoked || self.find_active_agent(&mut unit, &claims.sub).await?.is_none() {
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

    /// Describes a refresh token, if it is valid and belongs to this client.
    async fn introspect_refresh(
        &self,
        client: &Client,
        refresh: &RefreshClaims,
    ) -> Result<Option<Value>, IdentityError> {
        let mut unit = self.unit();
        let grant = read::<GrantRecord>(&mut unit, &self.records.grants, &refresh.grant_id).await?;
        let now = unit.now().as_millis();
        let valid = grant.map(|(grant, _)| grant).filter(|grant| {
            grant.client_id == client.id
                && grant.generation == refresh.generation
                && grant.expires_at > now
        });
        let Some(grant) = valid else { return Ok(None) };
        let active = self.find_active_agent(&mut unit, &grant.agent_id).await?.is_some();
        Ok(active.then(|| {
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
