//! What is exchanged at the token endpoint: a client's own credentials, an authorization code, a
//! refresh token (RFC 6749, sections 4.4, 4.1.3 and 6; RFC 9700, section 4.14).

use crate::{
    Client, Identity, IdentityError, IssuedToken, OAuthError,
    records::{CodeRecord, GrantRecord, commit, read, unit, write},
    scopes, secret,
    token::Terms,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_store::Expectation;
use portolan_vocabulary::new_identifier;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A client's parameters of an authorization-code request.
#[derive(Debug, Clone, Copy)]
pub struct Redemption<'a> {
    pub code: &'a str,
    pub code_verifier: Option<&'a str>,
    pub redirect_uri: Option<&'a str>,
    pub resource: Option<&'a str>,
}

/// What a refresh token says; the host signs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Refresh {
    pub grant_id: String,
    pub generation: u64,
    /// Seconds since the Unix epoch.
    pub exp: u64,
}

fn invalid_grant(text: &'static str) -> IdentityError {
    OAuthError::new("invalid_grant", text).into()
}

impl Identity {
    /// The client by itself. Without a scope, all that it may have; no refresh token, for it can
    /// always come again.
    pub async fn grant_client_credentials(
        &self,
        client: &Client,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<IssuedToken, IdentityError> {
        if client.is_public() {
            let text = "a client without credentials has no tokens of its own";
            return Err(OAuthError::new("unauthorized_client", text).into());
        }
        client.check_grant("client_credentials")?;
        let agent_id = client.agent_id.clone().ok_or(IdentityError::AgentGone)?;
        if self.read_agent(&mut unit(&self.store), &agent_id).await?.is_none() {
            let text = "the agent of this client is revoked or expired; register again";
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let audience = self.audience_of(resource)?;
        let scope = scopes(scope, &client.metadata.scope)?;
        let client_id = client.id.clone();
        self.issue(Terms { agent_id, client_id, scope, audience, grant_id: None }).await
    }

    /// A code for tokens, once. A second time, whoever has it has stolen it, or it was stolen before:
    /// what it was redeemed for ends.
    pub async fn redeem(
        &self,
        client: &Client,
        redemption: Redemption<'_>,
    ) -> Result<IssuedToken, IdentityError> {
        client.check_grant("authorization_code")?;
        let id = secret::hash(redemption.code).hex();
        loop {
            let mut unit = unit(&self.store);
            let code = read::<CodeRecord>(&mut unit, &self.records.codes, &id).await?;
            let own = code.filter(|(code, _)| code.client_id == client.id);
            let (mut code, revision) = own.ok_or_else(|| invalid_grant("the code is unknown"))?;
            if let Some(grant_id) = &code.grant_id {
                self.end_grant(grant_id).await?;
                return Err(invalid_grant("the code was used before"));
            }
            self.check_redemption(&code, unit.now().as_millis(), &redemption)?;
            if self.read_agent(&mut unit, &code.agent_id).await?.is_none() {
                return Err(invalid_grant("the person has revoked this agent"));
            }
            let grant_id = new_identifier("gra", unit.now(), secret::random()?);
            let grant = GrantRecord {
                client_id: client.id.clone(),
                agent_id: code.agent_id.clone(),
                scope: code.scope.clone(),
                audience: code.audience.clone(),
                generation: 0,
                expires_at: unit.now().as_millis() + self.settings.refresh_ms(),
            };
            code.grant_id = Some(grant_id.clone());
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.codes, &id, &code, expect).await?;
            write(&mut unit, &self.records.grants, &grant_id, &grant, Expectation::Absent).await?;
            // If not, somebody was quicker with the same code.
            if commit(unit).await? {
                return self.issue_for(grant_id, grant, None).await;
            }
        }
    }

    fn check_redemption(
        &self,
        code: &CodeRecord,
        now: u64,
        redemption: &Redemption<'_>,
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
        // RFC 7636, section 4.1.
        let unreserved = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
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

    /// A refresh token for new tokens, once. An older one that comes again ends the whole family.
    pub async fn refresh(
        &self,
        client: &Client,
        token: &str,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<IssuedToken, IdentityError> {
        let unknown = || invalid_grant("the refresh token is unknown, expired or revoked");
        let refresh: Refresh = self.refresh_tokens.read(token).ok_or_else(unknown)?;
        loop {
            let mut unit = unit(&self.store);
            let id = &refresh.grant_id;
            let grant = read::<GrantRecord>(&mut unit, &self.records.grants, id).await?;
            let own = grant.filter(|(grant, _)| grant.client_id == client.id);
            let (mut grant, revision) = own.ok_or_else(unknown)?;
            if grant.generation != refresh.generation {
                self.end_grant(id).await?;
                return Err(invalid_grant(
                    "the refresh token was used before; ask the person again",
                ));
            }
            if self.read_agent(&mut unit, &grant.agent_id).await?.is_none() {
                return Err(invalid_grant("the person has revoked this agent"));
            }
            let narrowed = scopes(scope, &grant.scope)?;
            if resource.is_some() && self.audience_of(resource)? != grant.audience {
                let text = "the resource is not the one that was granted";
                return Err(OAuthError::new("invalid_target", text).into());
            }
            grant.generation += 1;
            grant.expires_at = unit.now().as_millis() + self.settings.refresh_ms();
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.grants, id, &grant, expect).await?;
            if commit(unit).await? {
                return self.issue_for(id.clone(), grant, Some(narrowed)).await;
            }
        }
    }

    async fn issue_for(
        &self,
        grant_id: String,
        grant: GrantRecord,
        narrowed: Option<String>,
    ) -> Result<IssuedToken, IdentityError> {
        let refresh = Refresh {
            grant_id: grant_id.clone(),
            generation: grant.generation,
            exp: grant.expires_at / 1000,
        };
        let terms = Terms {
            agent_id: grant.agent_id,
            client_id: grant.client_id,
            scope: narrowed.unwrap_or(grant.scope),
            audience: grant.audience,
            grant_id: Some(grant_id),
        };
        let refresh_token = Some(self.refresh_tokens.sign(&refresh)?);
        Ok(IssuedToken { refresh_token, ..self.issue(terms).await? })
    }

    /// Ends what a person granted: its refresh tokens, and every access token of it.
    pub(super) async fn end_grant(&self, grant_id: &str) -> Result<(), IdentityError> {
        loop {
            let mut unit = unit(&self.store);
            self.end(&mut unit, grant_id).await?;
            unit.delete(&self.records.grants, grant_id, Expectation::Any).await?;
            // If not, it was refreshed in this moment, and must end all the same.
            if commit(unit).await? {
                break;
            }
        }
        self.look_again();
        Ok(())
    }
}
