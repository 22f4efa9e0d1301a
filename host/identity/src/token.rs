//! The claims of an access token (RFC 9068), and the cached token.

use arc_swap::ArcSwapOption;
use portolan_vocabulary::{AgentCaller, ApprovalPolicy, Suspension, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The `typ` of an access token (RFC 9068, section 2.1). Another kind of JWT is refused.
pub(crate) const TOKEN_TYPE: &str = "at+jwt";
/// The shortest life that the configuration may give an access token.
pub const SHORTEST_LIFETIME_S: u64 = 120;
/// The longest life that the configuration may give an access token.
pub const LONGEST_LIFETIME_S: u64 = 24 * 3600;
/// The maximum number of verified tokens in the cache. A flood of distinct tokens evicts others; it does not
/// grow the cache.
pub const TOKEN_CACHE_CAPACITY: u64 = 20_000;

/// The claims of an access token (RFC 9068, section 2.2).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub iss: String,
    pub sub: String,
    pub aud: String,
    pub client_id: String,
    pub scope: String,
    pub iat: u64,
    pub exp: u64,
    /// The time before which the token is not valid. This host issues no such claim, but checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<u64>,
    pub jti: String,
    /// The grant of a person to the client, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<String>,
}

/// The content of a verified token.
#[derive(Debug)]
pub(crate) struct VerifiedToken {
    /// The standing of the token's agent as it was last read.
    pub standing: ArcSwapOption<CachedStanding>,
    pub agent_id: Arc<str>,
    pub client_id: Arc<str>,
    pub scopes: Arc<[String]>,
    pub audience: Arc<str>,
    /// The ids of the token, its client and its grant: if one is revoked, so is the token.
    pub revocable_ids: Vec<String>,
    /// In seconds since the Unix epoch.
    pub expires_at: u64,
}

impl From<Claims> for VerifiedToken {
    fn from(claims: Claims) -> Self {
        let revocable_ids = [Some(claims.jti), Some(claims.client_id.clone()), claims.grant_id];
        Self {
            standing: ArcSwapOption::empty(),
            agent_id: Arc::from(claims.sub),
            client_id: Arc::from(claims.client_id),
            scopes: claims.scope.split(' ').map(str::to_owned).collect(),
            audience: Arc::from(claims.aud),
            revocable_ids: revocable_ids.into_iter().flatten().collect(),
            expires_at: claims.exp,
        }
    }
}

/// The facts about an agent that are read from the records and not from its token.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub owner_id: Option<Arc<str>>,
    pub agent_name: Option<Arc<str>>,
    pub test_mode: bool,
    pub suspension: Option<Arc<Suspension>>,
    pub policy: Option<Arc<ApprovalPolicy>>,
}

impl Standing {
    pub(crate) fn caller(
        self,
        agent_id: Arc<str>,
        client_id: Arc<str>,
        scopes: Arc<[String]>,
    ) -> AgentCaller {
        let Self { owner_id, agent_name, test_mode, suspension, policy } = self;
        AgentCaller {
            agent_id,
            client_id,
            owner_id,
            agent_name,
            scopes,
            test_mode,
            suspension,
            policy,
            address: None,
        }
    }
}

/// The standing of an agent as it was read at a time.
#[derive(Debug)]
pub(crate) struct CachedStanding {
    pub read_at: Timestamp,
    /// The number of invalidations on this node before it was read.
    pub invalidations: u64,
    pub standing: Standing,
}

impl CachedStanding {
    /// Returns whether the standing was read less than `age_ms` ago. A clock that was set back says nothing
    /// about the age, so the standing counts as old then.
    pub(crate) fn is_younger_than(&self, age_ms: u64, now: Timestamp) -> bool {
        let age = now.as_millis().checked_sub(self.read_at.as_millis());
        age.is_some_and(|age| age < age_ms)
    }
}

/// The claims that a new token is to have.
pub(crate) struct TokenTerms {
    pub agent_id: String,
    pub client_id: String,
    /// Scopes, separated by spaces.
    pub scope: String,
    pub audience: String,
    pub grant_id: Option<String>,
}

/// A token response (RFC 6749, section 5.1).
pub struct IssuedToken {
    pub access_token: String,
    pub expires_in: u64,
    /// Scopes, separated by spaces.
    pub scope: String,
    pub refresh_token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_is_old_after_its_age_and_when_the_clock_was_set_back() {
        let at = Timestamp::from_millis;
        let standing = Standing {
            owner_id: None,
            agent_name: None,
            test_mode: false,
            suspension: None,
            policy: None,
        };
        let cached = CachedStanding { read_at: at(5_000), invalidations: 0, standing };
        assert!(cached.is_younger_than(1_000, at(5_000)));
        assert!(cached.is_younger_than(1_000, at(5_999)));
        assert!(!cached.is_younger_than(1_000, at(6_000)));
        assert!(!cached.is_younger_than(1_000, at(4_999)));
    }
}
