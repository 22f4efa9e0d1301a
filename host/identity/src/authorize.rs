//! Authorization requests: what a client asks a person for, and the code that it gets when the person
//! consents (RFC 6749, section 4.1, with PKCE, RFC 7636).

use crate::{
    client::Client,
    consents::{ATTEMPTS, ConsentTerms},
    error::IdentityError,
    identity::Identity,
    oauth::{OAuthError, granted_scopes},
    records::{CodeRecord, commit, write},
    secret,
    sessions::Session,
};
use portolan_store::{Expectation, StateError};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The life of a code.
const CODE_LIFE_MS: u64 = 60_000;
/// The time for which a code is stored, so that a second use is noticed.
const CODE_RETENTION_MS: u64 = 3_600_000;
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

    /// Issues the authorization code for a consent. Fails after repeated conflicts, and if the session has
    /// ended meanwhile.
    pub async fn issue_code(
        &self,
        request: &AuthorizationRequest,
        session: &Session,
    ) -> Result<String, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let consent = self.record_consent(&mut unit, request.into(), session).await?;
            let code = secret::new("");
            let now = unit.now().as_millis();
            let record = CodeRecord {
                client_id: request.client_id.clone(),
                agent_id: consent.agent_id,
                redirect_uri: request.redirect_uri.clone(),
                scope: request.scope.clone(),
                audience: request.audience.clone(),
                code_challenge: request.code_challenge.clone(),
                owner_id: Some(session.owner_id.clone()),
                sign_outs: consent.sign_outs,
                good_until: now + CODE_LIFE_MS,
                grant_id: None,
                expires_at: now + CODE_RETENTION_MS,
            };
            let id = secret::hash(&code).hex();
            write(&mut unit, &self.records.codes, &id, &record, Expectation::Absent).await?;
            if commit(unit).await? {
                return Ok(code);
            }
        }
        Err(StateError::Conflict.into())
    }
}

impl<'a> From<&'a AuthorizationRequest> for ConsentTerms<'a> {
    fn from(request: &'a AuthorizationRequest) -> Self {
        let AuthorizationRequest { client_id, client_name, scope, .. } = request;
        Self { client_id, client_name, scope }
    }
}

/// Returns whether a text is 32 bytes in base64url.
fn is_hash(text: &str) -> bool {
    text.len() == 43
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
