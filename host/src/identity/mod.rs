//! Who is calling: agents, their clients, and the access tokens they present.

mod authenticate;
mod claim;
mod keys;
mod records;
mod register;
mod secret;
mod token;

pub use register::{Registered, Registration};
pub use token::{IssuedToken, SCOPES};

use crate::db::{DbError, StateError, Store};
use keys::SigningKey;
use moka::sync::Cache;
use records::Records;
use std::{sync::Arc, time::Duration};

/// How many verified tokens are remembered. A flood of distinct tokens evicts; it does not grow.
const VERIFIED_TOKENS: u64 = 20_000;
const STANDINGS: u64 = 20_000;
/// A claim or a revocation counts within this time, on every node.
const STANDING_AGE: Duration = Duration::from_secs(1);

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
    #[error("the client's credentials are wrong")]
    ClientInvalid,
    #[error("a requested scope does not exist")]
    ScopeUnknown,
    #[error("the requested resource is not served here")]
    ResourceUnknown,
    #[error("no random bytes: {0}")]
    Random(getrandom::Error),
    #[error("the signing key: {0}")]
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

/// The register of agents and the issuer of their tokens.
#[derive(Debug)]
pub struct Identity {
    store: Store,
    records: Records,
    key: SigningKey,
    /// `iss` of every token, and the base of every address in the metadata.
    issuer: String,
    /// `aud` of a token for the REST API.
    audience: String,
    verified: Cache<[u8; 32], Arc<token::Verified>>,
    standings: Cache<Arc<str>, authenticate::Standing>,
}

impl Identity {
    /// `public_url` is where agents reach this host, without a slash at the end.
    pub async fn open(store: Store, public_url: &str) -> Result<Self, IdentityError> {
        let key = SigningKey::open(&store).await?;
        let records = Records::open(&store).await?;
        Ok(Self {
            store,
            records,
            key,
            issuer: public_url.to_owned(),
            audience: public_url.to_owned(),
            verified: Cache::new(VERIFIED_TOKENS),
            standings: Cache::builder().max_capacity(STANDINGS).time_to_live(STANDING_AGE).build(),
        })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub fn audience(&self) -> &str {
        &self.audience
    }
}
