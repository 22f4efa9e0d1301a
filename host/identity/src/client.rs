//! A client and its credentials (RFC 6749, section 2.3).

use crate::{metadata::ClientMetadata, oauth::OAuthError};
use serde::Deserialize;

/// The credentials of a client.
pub enum Credentials {
    /// The secret or the client key.
    Secret { client_id: String, secret: String },
    /// A JSON Web Token that the client signed (RFC 7523).
    Assertion { client_id: Option<String>, assertion: String },
    /// No credentials: a public client only sends its id.
    Public { client_id: String },
}

/// A client whose registration or document was found.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) id: String,
    /// The agent as which the client acts for itself; `None` for a client that acts only for
    /// people.
    pub(crate) agent_id: Option<String>,
    /// The hashes of the secrets that the client may authenticate with.
    pub(crate) secret_hashes: Vec<String>,
    pub(crate) metadata: ClientMetadata,
}

impl Client {
    /// Makes a client that is known by the address of its metadata document.
    pub(crate) fn from_document(id: &str, metadata: ClientMetadata) -> Self {
        Self { id: id.to_owned(), agent_id: None, secret_hashes: Vec::new(), metadata }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name by which people know the client.
    pub fn name(&self) -> &str {
        self.metadata.client_name.as_deref().unwrap_or(&self.id)
    }

    /// Returns whether the client has no credentials.
    pub(crate) fn is_public(&self) -> bool {
        self.metadata.token_endpoint_auth_method == "none"
    }

    /// Refuses a client that may not use this grant type.
    pub(crate) fn ensure_grant(&self, grant: &'static str) -> Result<(), OAuthError> {
        match self.metadata.has_grant(grant) {
            true => Ok(()),
            false => Err(OAuthError::new(
                "unauthorized_client",
                format!("this client is not registered for the grant {grant}"),
            )),
        }
    }
}

impl Credentials {
    /// Returns the id of the client that the credentials name. Returns `None` for an assertion that
    /// cannot be parsed or that is not about the named client.
    pub fn client_id(&self) -> Option<String> {
        match self {
            Self::Secret { client_id, .. } | Self::Public { client_id } => Some(client_id.clone()),
            Self::Assertion { client_id, assertion } => {
                let subject = unverified_subject(assertion)?;
                client_id.as_ref().is_none_or(|id| *id == subject).then_some(subject)
            }
        }
    }
}

/// The claim of an assertion that names its client.
#[derive(Clone, Deserialize)]
struct Subject {
    sub: String,
}

/// Returns the subject of an assertion whose signature has not been verified yet.
fn unverified_subject(assertion: &str) -> Option<String> {
    let token = jsonwebtoken::dangerous::insecure_decode::<Subject>(assertion).ok()?;
    Some(token.claims.sub)
}
