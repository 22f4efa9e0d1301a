//! The exchanges of the token endpoint: client credentials, an authorization code or a refresh token
//! for tokens (RFC 6749, sections 4.4, 4.1.3 and 6; RFC 9700, section 4.14).

use crate::{
    auth_action::AuthAction,
    client::Client,
    error::IdentityError,
    failed_attempts::FailedAttempt,
    identity::Identity,
    oauth::{OAuthError, granted_scopes},
    records::{CodeRecord, GrantRecord, OwnerRecord, commit, read, write},
    secret,
    signer::Expiring,
    token::{IssuedToken, TokenTerms},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_store::{AuditRecord, Expectation, Unit};
use portolan_vocabulary::new_identifier;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The parameters with which a client redeems an authorization code.
#[derive(Debug, Clone, Copy)]
pub struct CodeRedemption<'a> {
    pub code: &'a str,
    pub code_verifier: Option<&'a str>,
    pub redirect_uri: Option<&'a str>,
    pub resource: Option<&'a str>,
}

/// A consent for which a client gets a grant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenConsent<'a> {
    pub agent_id: &'a str,
    /// `None` for a code of an earlier version.
    pub owner_id: Option<&'a str>,
    /// The person's number of sign-outs when they consented.
    pub sign_outs: u64,
    /// Space-separated.
    pub scope: &'a str,
    pub audience: &'a str,
}

/// The claims of a refresh token, which the host signs for itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RefreshClaims {
    pub grant_id: String,
    pub generation: u64,
    /// Seconds since the Unix epoch.
    pub exp: u64,
}

impl Expiring for RefreshClaims {
    fn expires_at(&self) -> u64 {
        self.exp
    }
}

pub(crate) fn invalid_grant(text: &'static str) -> IdentityError {
    OAuthError::new("invalid_grant", text).into()
}

impl Identity {
    /// Issues a token to a client that acts for itself. Without `scope`, the token has all scopes that the
    /// client may request. There is no refresh token, because the client can authenticate again.
    pub async fn issue_for_client_credentials(
        &self,
        client: &Client,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<IssuedToken, IdentityError> {
        if client.is_public() {
            let text = "a client without credentials has no tokens of its own";
            return Err(OAuthError::new("unauthorized_client", text).into());
        }
        client.ensure_grant("client_credentials")?;
        let agent_id = client.agent_id.clone().ok_or(IdentityError::AgentExpired)?;
        if self.find_active_agent(&mut self.unit(), &agent_id).await?.is_none() {
            let text = "the agent of this client is revoked or expired; register again";
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let audience = self.audience_of(resource)?;
        let scope = granted_scopes(scope, &client.metadata.scope)?;
        let client_id = client.id.clone();
        self.issue(TokenTerms { agent_id, client_id, scope, audience, grant_id: None }).await
    }

    /// Exchanges a code for tokens, once. A second use indicates that the code was stolen, so the grant that
    /// it was redeemed for is revoked.
    pub async fn redeem_code(
        &self,
        client: &Client,
        redemption: CodeRedemption<'_>,
    ) -> Result<IssuedToken, IdentityError> {
        client.ensure_grant("authorization_code")?;
        let id = secret::hash(redemption.code).hex();
        loop {
            let mut unit = self.unit();
            let code = read::<CodeRecord>(&mut unit, &self.records.codes, &id).await?;
            let code = code.filter(|(code, _)| code.client_id == client.id);
            let (mut code, revision) = code.ok_or_else(|| invalid_grant("the code is unknown"))?;
            if let Some(grant_id) = &code.grant_id {
                self.record_reuse(AuthAction::CodeReused, &client.id, &code.agent_id);
                self.revoke_grant(grant_id, None).await?;
                return Err(invalid_grant("the code was used before"));
            }
            self.ensure_redeemable(&code, unit.now().as_millis(), &redemption)?;
            let consent = GivenConsent {
                agent_id: &code.agent_id,
                owner_id: code.owner_id.as_deref(),
                sign_outs: code.sign_outs,
                scope: &code.scope,
                audience: &code.audience,
            };
            let (grant_id, grant) = self.add_grant(&mut unit, client, consent).await?;
            code.grant_id = Some(grant_id.clone());
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.codes, &id, &code, expect).await?;
            // After a conflict, such as a concurrent use of the code, the records are read and
            // checked again.
            if commit(unit).await? {
                return self.issue_for_grant(grant_id, grant, None).await;
            }
        }
    }

    /// Adds the grant of a consent to a unit. Refuses a consent whose agent has ended, or whose person has ended
    /// all their sessions since.
    pub(crate) async fn add_grant(
        &self,
        unit: &mut Unit,
        client: &Client,
        consent: GivenConsent<'_>,
    ) -> Result<(String, GrantRecord), IdentityError> {
        if self.find_active_agent(unit, consent.agent_id).await?.is_none() {
            return Err(invalid_grant("the person has revoked this agent"));
        }
        if let Some(owner_id) = consent.owner_id {
            let owner = read::<OwnerRecord>(unit, &self.records.owners, owner_id).await?;
            if owner.is_none_or(|(owner, _)| owner.sign_outs != consent.sign_outs) {
                return Err(invalid_grant(
                    "the person has signed out everywhere since the consent",
                ));
            }
        }
        let grant_id = new_identifier("gra", unit.now(), secret::random());
        let grant = GrantRecord {
            client_id: client.id.clone(),
            agent_id: consent.agent_id.to_owned(),
            scope: consent.scope.to_owned(),
            audience: consent.audience.to_owned(),
            generation: 0,
            expires_at: unit.now().as_millis() + self.settings.refresh_ms(),
        };
        write(unit, &self.records.grants, &grant_id, &grant, Expectation::Absent).await?;
        self.extend_client(unit, &client.id).await?;
        Ok((grant_id, grant))
    }

    /// Refuses a redemption that is too late or does not fit the authorization request (RFC 7636,
    /// section 4.6).
    fn ensure_redeemable(
        &self,
        code: &CodeRecord,
        now: u64,
        redemption: &CodeRedemption<'_>,
    ) -> Result<(), IdentityError> {
        if code.good_until <= now {
            return Err(invalid_grant("the code has expired"));
        }
        if redemption.redirect_uri.is_some_and(|uri| uri != code.redirect_uri) {
            return Err(invalid_grant("redirect_uri is not the one of the authorization request"));
        }
        let Some(verifier) = redemption.code_verifier else {
            return Err(invalid_grant("code_verifier is missing"));
        };
        // The characters that a verifier may have (RFC 7636, section 4.1).
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let well_formed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(unreserved);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let fits: bool = challenge.as_bytes().ct_eq(code.code_challenge.as_bytes()).into();
        if !well_formed || !fits {
            return Err(invalid_grant("code_verifier does not fit the code_challenge"));
        }
        match redemption.resource {
            Some(resource) if self.audience_of(Some(resource))? != code.audience => {
                let text = "the resource is not the one of the authorization request";
                Err(OAuthError::new("invalid_target", text).into())
            }
            _ => Ok(()),
        }
    }

    /// Exchanges a refresh token for new tokens, once. If a refresh token is used again, its grant is revoked
    /// with all tokens.
    pub async fn refresh(
        &self,
        client: &Client,
        token: &str,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<IssuedToken, IdentityError> {
        let unknown = || invalid_grant("the refresh token is unknown, expired or revoked");
        let refresh = self.refresh_tokens.verify(token, self.clock.now());
        let refresh: RefreshClaims = refresh.ok_or_else(unknown)?;
        loop {
            let mut unit = self.unit();
            let id = &refresh.grant_id;
            let grant = read::<GrantRecord>(&mut unit, &self.records.grants, id).await?;
            let grant = grant.filter(|(grant, _)| grant.client_id == client.id);
            let (mut grant, revision) = grant.ok_or_else(unknown)?;
            if grant.generation != refresh.generation {
                self.record_reuse(AuthAction::RefreshTokenReused, &client.id, &grant.agent_id);
                self.revoke_grant(id, None).await?;
                return Err(invalid_grant(
                    "the refresh token was used before; ask the person again",
                ));
            }
            if self.find_active_agent(&mut unit, &grant.agent_id).await?.is_none() {
                return Err(invalid_grant("the person has revoked this agent"));
            }
            let narrowed = granted_scopes(scope, &grant.scope)?;
            if resource.is_some() && self.audience_of(resource)? != grant.audience {
                let text = "the resource is not the one that was granted";
                return Err(OAuthError::new("invalid_target", text).into());
            }
            grant.generation += 1;
            grant.expires_at = unit.now().as_millis() + self.settings.refresh_ms();
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.grants, id, &grant, expect).await?;
            self.extend_client(&mut unit, &client.id).await?;
            if commit(unit).await? {
                return self.issue_for_grant(id.clone(), grant, Some(narrowed)).await;
            }
        }
    }

    /// Issues the tokens of a grant, for its scope or a narrower one.
    pub(crate) async fn issue_for_grant(
        &self,
        grant_id: String,
        grant: GrantRecord,
        narrowed: Option<String>,
    ) -> Result<IssuedToken, IdentityError> {
        let refresh = RefreshClaims {
            grant_id: grant_id.clone(),
            generation: grant.generation,
            exp: grant.expires_at / 1000,
        };
        let terms = TokenTerms {
            agent_id: grant.agent_id,
            client_id: grant.client_id,
            scope: narrowed.unwrap_or(grant.scope),
            audience: grant.audience,
            grant_id: Some(grant_id),
        };
        let refresh_token = Some(self.refresh_tokens.sign(&refresh)?);
        Ok(IssuedToken { refresh_token, ..self.issue(terms).await? })
    }

    /// Records the second use of a code or a refresh token. Its repetitions become one row.
    pub(crate) fn record_reuse(&self, action: AuthAction, client_id: &str, agent_id: &str) {
        self.record_failure(FailedAttempt {
            client_id: Some(client_id.to_owned()),
            agent_id: Some(agent_id.to_owned()),
            ..FailedAttempt::of(action, "invalid_grant")
        });
    }

    /// Revokes a grant with its refresh tokens and access tokens. `row` is written to the audit log.
    pub(crate) async fn revoke_grant(
        &self,
        grant_id: &str,
        row: Option<AuditRecord>,
    ) -> Result<(), IdentityError> {
        loop {
            let mut unit = self.unit();
            row.iter().cloned().for_each(|row| unit.record_audit(row));
            self.record_revocation(&mut unit, grant_id).await?;
            unit.delete(&self.records.grants, grant_id, Expectation::Any).await?;
            // After a conflict, such as a concurrent refresh, the grant must still be revoked.
            if commit(unit).await? {
                break;
            }
        }
        self.invalidate_standings();
        Ok(())
    }
}
