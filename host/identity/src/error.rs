//! The reasons why a caller, a client or a request for a token is refused.

use crate::oauth::OAuthError;
use portolan_names::NameFault;
use portolan_outgoing::email::AddressFault;
use portolan_store::{DbError, KeyError, StateError};
use std::time::Duration;

/// The reasons why a caller, a client or a request for a token is refused.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("no token was sent")]
    NoToken,
    #[error("the token is not valid")]
    TokenInvalid,
    #[error("the token has expired")]
    TokenExpired,
    /// `metadata` is the path of the metadata of the resource that was called (RFC 9728).
    #[error("the token is for another audience")]
    AudienceMismatch { metadata: String },
    #[error("the agent of this token is unknown or has expired")]
    AgentExpired,
    #[error("the agent of this token is revoked")]
    AgentRevoked,
    #[error("the session has ended")]
    SessionEnded,
    #[error("no device waits for this code")]
    UserCodeUnknown,
    #[error("the address of the claim is unknown, has expired or was used")]
    ClaimLinkExpired,
    #[error("the agent is claimed already")]
    AgentClaimed,
    #[error("test mode is off")]
    TestModeOff,
    #[error("the person signs in with a passkey")]
    PasskeyRequired,
    #[error("there is no such passkey")]
    PasskeyUnknown,
    #[error("the time for the passkey is over, or it was used already")]
    PasskeyExpired,
    #[error("the passkey is refused: {0}")]
    PasskeyRefused(String),
    #[error("a person can have at most {maximum} passkeys")]
    TooManyPasskeys { maximum: usize },
    #[error("this host has no passkeys, because its address has no name")]
    NoPasskeys,
    #[error("the sign-in is too old for this")]
    SignInTooOld,
    #[error("the address cannot be used: {0}")]
    EmailAddress(#[from] AddressFault),
    #[error("too many emails: the next one is possible in {after_s} seconds")]
    EmailLater { after_s: u32 },
    #[error("the agent cannot have this name: {0}")]
    AgentName(#[from] NameFault),
    #[error("too many wrong secrets: the next attempt is possible in {after_s} seconds")]
    SlowDown { after_s: u32 },
    #[error("the token of the operator {0} has expired")]
    OperatorExpired(String),
    #[error("there is an operator {0} already")]
    OperatorExists(String),
    #[error("there is no operator {0}")]
    NoOperator(String),
    #[error("{0}")]
    OperatorInvalid(&'static str),
    #[error("{0}")]
    OAuth(#[from] OAuthError),
    #[error("a key cannot be used: {0}")]
    Key(String),
    #[error("the records of identities: {0}")]
    Records(StateError),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl IdentityError {
    /// Makes the error for an attempt that has to wait this long.
    pub fn slow_down(wait: Duration) -> Self {
        let after_s = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
        Self::SlowDown { after_s }
    }
}

impl From<KeyError> for IdentityError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Db(error) => Self::Db(error),
            other => Self::Key(other.to_string()),
        }
    }
}

impl From<StateError> for IdentityError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Db(error) => Self::Db(error),
            other => Self::Records(other),
        }
    }
}
