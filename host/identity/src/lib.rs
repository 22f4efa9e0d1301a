//! Who is calling: agents, the clients they authenticate with, the people behind them, and the access
//! tokens they present. The authorization server without its doors.

mod authenticate;
mod authorize;
mod claim;
mod clients;
mod documents;
mod failure;
mod grants;
mod keys;
mod metadata;
mod oauth;
mod questions;
mod records;
mod register;
mod revoke;
mod secret;
mod sessions;
mod signed;
mod token;

pub use authorize::{AskError, Asked};
pub use clients::{ASSERTION_ALGORITHMS, Client, Credentials, RegisteredClient};
pub use grants::Redemption;
pub use metadata::{AUTH_METHODS, ClientMetadata, GRANTS, RedirectHosts};
pub use oauth::{OAuthError, OFFLINE_ACCESS, SCOPES, scopes};
pub use questions::Question;
pub use register::{Registered, Registration};
pub use sessions::{Progress, Session};
pub use token::{IssuedToken, LONGEST_LIFETIME_S, SHORTEST_LIFETIME_S};

use documents::Documents;
use keys::SigningKeys;
use moka::sync::Cache;
use portolan_outgoing::Outgoing;
use portolan_store::{DbError, StateError, Store};
use portolan_vocabulary::{Keyring, Timestamp};
use records::Records;
use serde_json::Value;
use signed::Signer;
use std::sync::{Arc, atomic::AtomicU64};

/// How many verified tokens are remembered. A flood of distinct tokens evicts; it does not grow.
pub const VERIFIED_TOKENS: u64 = 20_000;

/// Why a caller, a client or a request for a token is refused.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("no token was sent")]
    NoToken,
    #[error("the token is not valid")]
    TokenInvalid,
    #[error("the token has expired")]
    TokenExpired,
    #[error("the token is for another audience")]
    OtherAudience,
    #[error("the agent of this token is gone")]
    AgentGone,
    #[error("the agent of this token is revoked")]
    AgentRevoked,
    #[error("{0}")]
    OAuth(#[from] OAuthError),
    #[error("no random bytes: {0}")]
    Random(getrandom::Error),
    #[error("the keys: {0}")]
    Key(String),
    #[error("the records of identities: {0}")]
    Records(StateError),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<StateError> for IdentityError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Db(error) => Self::Db(error),
            other => Self::Records(other),
        }
    }
}

/// What an operator can set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where agents reach this host, without a slash at the end.
    pub public_url: String,
    /// Life of an access token.
    pub access_seconds: u64,
    /// Life of a refresh token that is not used.
    pub refresh_days: u64,
    pub redirects: RedirectHosts,
}

impl Settings {
    fn refresh_ms(&self) -> u64 {
        self.refresh_days * 24 * 3600 * 1000
    }
}

/// The register of agents and the issuer of their tokens.
#[derive(Debug)]
pub struct Identity {
    store: Store,
    records: Records,
    keys: SigningKeys,
    refresh_tokens: Signer,
    steps: Signer,
    questions: Signer,
    documents: Documents,
    settings: Settings,
    /// `iss` of every token, and the base of every address in the metadata.
    issuer: String,
    /// `aud` of a token for the REST API.
    audience: String,
    /// `aud` of a token for the MCP endpoint.
    mcp_audience: String,
    /// By the token itself: a cryptographic hash of it takes longer than all else about it.
    verified: Cache<Box<str>, Arc<token::Verified>>,
    /// How often this node has changed an agent or ended a token.
    changes: AtomicU64,
}

impl Identity {
    pub async fn open(
        store: Store,
        keys: &Keyring,
        settings: Settings,
        outgoing: Outgoing,
    ) -> Result<Self, IdentityError> {
        Ok(Self {
            records: Records::open(&store).await?,
            keys: SigningKeys::open(&store).await?,
            refresh_tokens: Signer::new(keys, "refresh+jwt"),
            steps: Signer::new(keys, "steps+jwt"),
            questions: Signer::new(keys, "question+jwt"),
            documents: Documents::new(outgoing),
            issuer: settings.public_url.clone(),
            audience: settings.public_url.clone(),
            mcp_audience: format!("{}/mcp", settings.public_url),
            settings,
            store,
            verified: Cache::new(VERIFIED_TOKENS),
            changes: AtomicU64::new(0),
        })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub fn audience(&self) -> &str {
        &self.audience
    }

    pub fn mcp_audience(&self) -> &str {
        &self.mcp_audience
    }

    /// Life of an access token.
    pub fn access_seconds(&self) -> u64 {
        self.settings.access_seconds
    }

    /// How many verified tokens are remembered now, about.
    pub fn remembered_tokens(&self) -> u64 {
        self.verified.run_pending_tasks();
        self.verified.entry_count()
    }

    pub fn redirects(&self) -> &RedirectHosts {
        &self.settings.redirects
    }

    /// The public parts of the signing keys (RFC 7517).
    pub async fn public_keys(&self) -> Result<Value, IdentityError> {
        self.keys.public().await
    }

    /// Makes a new signing key: the ids of those that are good now, the newest first, and when each
    /// was made.
    pub async fn rotate_keys(&self) -> Result<Vec<(String, Timestamp)>, IdentityError> {
        let keys = self.keys.rotate().await?;
        Ok(keys.iter().map(|key| (key.id.clone(), key.created_at())).collect())
    }
}
