//! Authorization requests: what a client asks a person for, and the code that it gets when the person
//! consents (RFC 6749, section 4.1, with PKCE, RFC 7636).

use crate::{
    auth_action::AuthAction,
    client::Client,
    error::IdentityError,
    identity::Identity,
    oauth::{OAuthError, granted_scopes},
    records::{AgentRecord, ClientAgentRecord, CodeRecord, Consent, commit, read, write},
    register::Registration,
    secret,
    sessions::Session,
};
use portolan_store::{AuditRecord, Expectation, StateError};
use portolan_vocabulary::{Digest, new_identifier};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The life of a code.
const CODE_LIFE_MS: u64 = 60_000;
/// The time for which a code is stored, so that a second use is noticed.
const CODE_RETENTION_MS: u64 = 3_600_000;
/// The maximum number of attempts to commit a consent while the person's agents change.
const ATTEMPTS: u32 = 5;
const STATE_BYTES: usize = 2_000;

/// A valid authorization request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    /// Space-separated.
    pub scope: String,
    pub audience: String,
    pub state: Option<String>,
    pub code_challenge: String,
}

/// The reason why an authorization request is refused.
#[derive(Debug)]
pub enum AuthorizationError {
    /// The error is shown on a page, because the redirect address cannot be trusted (RFC 6749, section
    /// 4.1.2.1).
    Page(OAuthError),
    /// The error is sent to the client by a redirect.
    Redirect {
        redirect_uri: String,
        state: Option<String>,
        error: OAuthError,
    },
    Failed(IdentityError),
}

impl From<IdentityError> for AuthorizationError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::OAuth(error) => Self::Page(error),
            other => Self::Failed(other),
        }
    }
}

impl Identity {
    /// Parses and checks the parameters of an authorization request.
    pub async fn parse_authorization_request(
        &self,
        parameters: &HashMap<String, String>,
    ) -> Result<AuthorizationRequest, AuthorizationError> {
        let parameter = |name: &str| parameters.get(name).map(String::as_str);
        let on_page =
            |text: &'static str| AuthorizationError::Page(OAuthError::new("invalid_request", text));
        let client_id = parameter("client_id").ok_or_else(|| on_page("client_id is missing"))?;
        let client =
            self.lookup_client(client_id).await?.ok_or_else(|| on_page("the client is unknown"))?;
        let redirect_uri = match (parameter("redirect_uri"), &*client.metadata.redirect_uris) {
            (Some(uri), _) if client.metadata.redirects_to(uri) => uri.to_owned(),
            (Some(_), _) => {
                return Err(on_page("redirect_uri is not one that the client registered"));
            }
            (None, [only]) => only.clone(),
            (None, _) => return Err(on_page("redirect_uri is missing")),
        };
        let state = parameter("state").map(str::to_owned);
        let checked = self.check_parameters(&client, parameters);
        let (scope, audience, code_challenge) =
            checked.map_err(|error| AuthorizationError::Redirect {
                redirect_uri: redirect_uri.clone(),
                state: state.clone(),
                error,
            })?;
        Ok(AuthorizationRequest {
            client_id: client.id.clone(),
            client_name: client.name().to_owned(),
            redirect_uri,
            scope,
            audience,
            state,
            code_challenge,
        })
    }

    /// Checks the parameters that are not about the redirect, and returns the scope, the audience
    /// and the code challenge.
    fn check_parameters(
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
                return Err(OAuthError::new(
                    "unsupported_response_type",
                    "response_type must be code",
                ));
            }
            None => return Err(invalid("response_type is missing")),
        }
        client.ensure_grant("authorization_code")?;
        match (parameter("code_challenge_method"), parameter("code_challenge")) {
            (_, None) => return Err(invalid("code_challenge is missing (RFC 7636)")),
            (Some("S256"), Some(challenge)) if is_hash(challenge) => {}
            (Some("S256"), _) => return Err(invalid("code_challenge is not a SHA-256 hash")),
            _ => return Err(invalid("code_challenge_method is S256")),
        }
        let scope = granted_scopes(parameter("scope"), &client.metadata.scope)?;
        let audience = match self.audience_of(parameter("resource")) {
            Ok(audience) => audience,
            Err(IdentityError::OAuth(error)) => return Err(error),
            Err(_) => {
                return Err(invalid(
                    "resource must be sent at most once and name an API of this host",
                ));
            }
        };
        Ok((scope, audience, parameter("code_challenge").unwrap_or_default().to_owned()))
    }

    /// Issues the authorization code for a consent. The client gets the same agent of the person each time,
    /// and a new one only if that agent is revoked, expired or no longer the person's. Fails after repeated
    /// conflicts, and if the session has ended meanwhile.
    pub async fn issue_code(
        &self,
        request: &AuthorizationRequest,
        session: &Session,
    ) -> Result<String, IdentityError> {
        for _ in 0..ATTEMPTS {
            if let Some(code) = self.try_to_issue_code(request, session).await? {
                return Ok(code);
            }
        }
        Err(StateError::Conflict.into())
    }

    async fn try_to_issue_code(
        &self,
        request: &AuthorizationRequest,
        session: &Session,
    ) -> Result<Option<String>, IdentityError> {
        let owner_id = session.owner_id.as_str();
        let mut unit = self.unit();
        let now = unit.now();
        let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
        if !owner.sessions.contains(&session.id) {
            return Err(IdentityError::SessionEnded);
        }
        let client_agent = format!("{} {owner_id}", request.client_id);
        let client_agent = Digest::of(client_agent.as_bytes()).hex();
        let known =
            read::<ClientAgentRecord>(&mut unit, &self.records.client_agents, &client_agent)
                .await?;
        let existing = match known {
            Some((known, _)) => {
                let agent = self.find_active_agent(&mut unit, &known.agent_id).await?;
                let agent = agent.filter(|(agent, _)| agent.owner_id.as_deref() == Some(owner_id));
                agent.map(|(agent, revision)| (known.agent_id, agent, revision))
            }
            None => None,
        };
        let client_id = request.client_id.clone();
        let consent = Some(Consent { client_id, scope: request.scope.clone() });
        let agent_id = match existing {
            Some((agent_id, agent, revision)) => {
                let agent = AgentRecord { consent, ..agent };
                let expect = Expectation::Revision(revision);
                write(&mut unit, &self.records.agents, &agent_id, &agent, expect).await?;
                agent_id
            }
            None => {
                let agent_id = new_identifier("agt", now, secret::random());
                let agent = Registration {
                    identity_type: "client",
                    agent_name: Some(request.client_name.clone()),
                    ..Registration::default()
                };
                let agent = AgentRecord { consent, ..agent.record(now, None) };
                self.add_agent(&mut unit, &agent_id, agent, owner_id).await?;
                let record = ClientAgentRecord { agent_id: agent_id.clone() };
                write(
                    &mut unit,
                    &self.records.client_agents,
                    &client_agent,
                    &record,
                    Expectation::Any,
                )
                .await?;
                agent_id
            }
        };
        unit.record_audit(AuditRecord {
            client_id: Some(request.client_id.clone()),
            agent_id: Some(agent_id.clone()),
            owner_id: Some(owner_id.to_owned()),
            ..self.audit_row(AuthAction::ConsentGiven)
        });
        let code = secret::new("");
        let record = CodeRecord {
            client_id: request.client_id.clone(),
            agent_id,
            redirect_uri: request.redirect_uri.clone(),
            scope: request.scope.clone(),
            audience: request.audience.clone(),
            code_challenge: request.code_challenge.clone(),
            owner_id: Some(session.owner_id.clone()),
            sign_outs: owner.sign_outs,
            good_until: now.as_millis() + CODE_LIFE_MS,
            grant_id: None,
            expires_at: now.as_millis() + CODE_RETENTION_MS,
        };
        let id = secret::hash(&code).hex();
        write(&mut unit, &self.records.codes, &id, &record, Expectation::Absent).await?;
        Ok(commit(unit).await?.then_some(code))
    }
}

/// Returns whether a text is 32 bytes in base64url.
fn is_hash(text: &str) -> bool {
    text.len() == 43
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
