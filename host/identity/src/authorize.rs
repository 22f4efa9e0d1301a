//! What a client asks a person for, and the code it gets when the person lets it (RFC 6749, section
//! 4.1, with PKCE, RFC 7636).

use crate::{
    Client, Identity, IdentityError, OAuthError,
    records::{CodeRecord, PartnerRecord, commit, read, unit, write},
    register::Registration,
    scopes, secret,
};
use portolan_store::Expectation;
use portolan_vocabulary::{AgentCaller, Digest, new_identifier};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};

/// How long a code can be redeemed, in milliseconds.
const CODE_LIFE_MS: u64 = 60_000;
/// How long it is remembered, so that a second use is noticed.
const CODE_MEMORY_MS: u64 = 3_600_000;
/// How often a person's agents may change under the consent.
const TRIES: u32 = 5;
const STATE_BYTES: usize = 2_000;
/// An agent that only carries a person's code to the phone lives so long, in milliseconds.
const SIGN_IN_LIFE_MS: u64 = 3_600_000;

/// A request that holds together: what the person is asked, and where the answer goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asked {
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    /// Space-separated.
    pub scope: String,
    pub audience: String,
    pub state: Option<String>,
    pub code_challenge: String,
}

/// Why a request is not put to the person.
#[derive(Debug)]
pub enum AskError {
    /// Told here: nobody can be sent back (RFC 6749, section 4.1.2.1).
    Here(OAuthError),
    /// Told to the client.
    There {
        redirect_uri: String,
        state: Option<String>,
        error: OAuthError,
    },
    Failed(IdentityError),
}

impl From<IdentityError> for AskError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::OAuth(error) => Self::Here(error),
            other => Self::Failed(other),
        }
    }
}

impl Identity {
    /// Judges the parameters of an authorization request.
    pub async fn ask(&self, parameters: &HashMap<String, String>) -> Result<Asked, AskError> {
        let parameter = |name: &str| parameters.get(name).map(String::as_str);
        let here = |text: &'static str| AskError::Here(OAuthError::new("invalid_request", text));
        let client_id = parameter("client_id").ok_or_else(|| here("client_id is missing"))?;
        let client = self.client(client_id).await?.ok_or_else(|| here("the client is unknown"))?;
        let redirect_uri = match (parameter("redirect_uri"), &*client.metadata.redirect_uris) {
            (Some(uri), _) if client.metadata.redirects_to(uri) => uri.to_owned(),
            (Some(_), _) => return Err(here("redirect_uri is not one that the client registered")),
            (None, [only]) => only.clone(),
            (None, _) => return Err(here("redirect_uri is missing")),
        };
        let state = parameter("state").map(str::to_owned);
        let judged = self.judge(&client, parameters);
        let (scope, audience, code_challenge) = judged.map_err(|error| AskError::There {
            redirect_uri: redirect_uri.clone(),
            state: state.clone(),
            error,
        })?;
        Ok(Asked {
            client_id: client.id.clone(),
            client_name: client.name().to_owned(),
            redirect_uri,
            scope,
            audience,
            state,
            code_challenge,
        })
    }

    fn judge(
        &self,
        client: &Client,
        parameters: &HashMap<String, String>,
    ) -> Result<(String, String, String), OAuthError> {
        let parameter = |name: &str| parameters.get(name).map(String::as_str);
        let invalid = |text: &'static str| OAuthError::new("invalid_request", text);
        if parameter("state").is_some_and(|state| state.len() > STATE_BYTES) {
            return Err(invalid("state is too long"));
        }
        match parameter("response_type") {
            Some("code") => {}
            Some(_) => {
                return Err(OAuthError::new("unsupported_response_type", "response_type is code"));
            }
            None => return Err(invalid("response_type is missing")),
        }
        client.check_grant("authorization_code")?;
        match (parameter("code_challenge_method"), parameter("code_challenge")) {
            (_, None) => return Err(invalid("code_challenge is missing (RFC 7636)")),
            (Some("S256"), Some(challenge)) if is_hash(challenge) => {}
            (Some("S256"), _) => return Err(invalid("code_challenge is not a SHA-256 hash")),
            _ => return Err(invalid("code_challenge_method is S256")),
        }
        let scope = scopes(parameter("scope"), &client.metadata.scope)?;
        let audience = match self.audience_of(parameter("resource")) {
            Ok(audience) => audience,
            Err(IdentityError::OAuth(error)) => return Err(error),
            Err(_) => return Err(invalid("resource is not usable")),
        };
        Ok((scope, audience, parameter("code_challenge").unwrap_or_default().to_owned()))
    }

    /// The person lets the client: the code that it gets an agent's tokens for. The agent is the same
    /// each time.
    pub async fn allow(&self, asked: &Asked, owner_id: &str) -> Result<String, IdentityError> {
        for _ in 0..TRIES {
            if let Some(code) = self.try_to_allow(asked, owner_id).await? {
                return Ok(code);
            }
        }
        Err(portolan_store::StateError::Conflict.into())
    }

    async fn try_to_allow(
        &self,
        asked: &Asked,
        owner_id: &str,
    ) -> Result<Option<String>, IdentityError> {
        let mut unit = unit(&self.store);
        let now = unit.now();
        let partner = format!("{} {owner_id}", asked.client_id);
        let partner = Digest::of(partner.as_bytes()).hex();
        let known = read::<PartnerRecord>(&mut unit, &self.records.partners, &partner).await?;
        let living = match known {
            Some((known, _)) => {
                let agent = self.read_agent(&mut unit, &known.agent_id).await?;
                let own = agent.filter(|(agent, _)| agent.owner_id.as_deref() == Some(owner_id));
                own.map(|_| known.agent_id)
            }
            None => None,
        };
        let agent_id = match living {
            Some(agent_id) => agent_id,
            None => {
                let agent_id = new_identifier("agt", now, secret::random()?);
                let agent = Registration {
                    identity_type: "client",
                    agent_name: Some(asked.client_name.clone()),
                    ..Registration::default()
                };
                self.adopt(&mut unit, &agent_id, agent.record(now, None), owner_id).await?;
                let record = PartnerRecord { agent_id: agent_id.clone() };
                write(&mut unit, &self.records.partners, &partner, &record, Expectation::Any)
                    .await?;
                agent_id
            }
        };
        let code = secret::new("")?;
        let record = CodeRecord {
            client_id: asked.client_id.clone(),
            agent_id,
            redirect_uri: asked.redirect_uri.clone(),
            scope: asked.scope.clone(),
            audience: asked.audience.clone(),
            code_challenge: asked.code_challenge.clone(),
            good_until: now.as_millis() + CODE_LIFE_MS,
            grant_id: None,
            expires_at: now.as_millis() + CODE_MEMORY_MS,
        };
        let id = secret::hash(&code).hex();
        write(&mut unit, &self.records.codes, &id, &record, Expectation::Absent).await?;
        Ok(commit(unit).await?.then_some(code))
    }

    /// An agent in whose name a person who signs in gets a code by phone. Nobody has its secrets, and it
    /// does not become one of the person's.
    pub async fn sign_in_agent(&self, client_name: &str) -> Result<AgentCaller, IdentityError> {
        let mut unit = unit(&self.store);
        let now = unit.now();
        let agent_id = new_identifier("agt", now, secret::random()?);
        let agent = Registration {
            identity_type: "client",
            agent_name: Some(client_name.to_owned()),
            ..Registration::default()
        };
        let mut agent = agent.record(now, None);
        agent.expires_at = Some(now.as_millis() + SIGN_IN_LIFE_MS);
        agent.signs_in = true;
        write(&mut unit, &self.records.agents, &agent_id, &agent, Expectation::Absent).await?;
        commit(unit).await?;
        self.caller(&agent_id).await
    }

    /// Ends an agent that has carried its code.
    pub async fn end_sign_in(&self, agent_id: &str) -> Result<(), IdentityError> {
        let mut unit = unit(&self.store);
        self.end_agent(&mut unit, agent_id).await?;
        // If somebody else has changed it meanwhile, it ends by itself within the hour.
        commit(unit).await?;
        self.forget(&[agent_id.to_owned()]);
        Ok(())
    }

    /// The caller that an agent is, without a token of its own.
    pub async fn caller(&self, agent_id: &str) -> Result<AgentCaller, IdentityError> {
        let agent_id: Arc<str> = Arc::from(agent_id);
        Ok(self.standing(&agent_id).await?.caller(agent_id, Arc::from(""), Arc::from([])))
    }
}

/// 32 bytes in base64url.
fn is_hash(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
}
