//! Operators: each has a token of their own, which ends by itself.

use crate::{
    auth_action::AuthAction, error::IdentityError, failed_attempts::FailedAttempt,
    identity::Identity, secret,
};
use portolan_store::{DbError, OperatorRecord};
use portolan_vocabulary::{Digest, Operator, OperatorRole};
use std::{net::IpAddr, time::Duration};

/// The life of an operator's token in days, if none is given, and at most.
pub const DEFAULT_OPERATOR_DAYS: u32 = 90;
pub const MAX_OPERATOR_DAYS: u32 = 365;
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The client of the throttle that all operators are. No client has this id.
const THROTTLED: &str = "operators";
const MAX_NAME_BYTES: usize = 64;
/// The names of the tokens that the data folder and the configuration have.
const SHARED: [&str; 2] = ["operator.token", "operator_token"];

impl Identity {
    /// Adds an operator and returns the token, of which only the hash is kept. `days` is its life.
    ///
    /// # Errors
    ///
    /// `OperatorInvalid` if the name or the number of days cannot be, `OperatorExists` if the name is
    /// taken.
    pub async fn add_operator(
        &self,
        name: &str,
        role: OperatorRole,
        days: u32,
        by: &Operator,
    ) -> Result<String, IdentityError> {
        ensure_name(name)?;
        let (token, record) = self.new_operator_token(name, role, days, by)?;
        let added = self.store.add_operator(&record).await?;
        self.operator_tokens.forget();
        match added {
            true => Ok(token),
            false => Err(IdentityError::OperatorExists(record.name)),
        }
    }

    /// Replaces the token of an operator, and returns the new one. The one before ends.
    ///
    /// # Errors
    ///
    /// `OperatorInvalid` if the number of days cannot be, `NoOperator` if there is no such operator.
    pub async fn renew_operator(
        &self,
        name: &str,
        days: u32,
        by: &Operator,
    ) -> Result<String, IdentityError> {
        // The operator keeps the role that the store has.
        let (token, record) = self.new_operator_token(name, OperatorRole::Read, days, by)?;
        let renewed = self.store.renew_operator(&record).await?;
        self.operator_tokens.forget();
        match renewed {
            true => Ok(token),
            false => Err(IdentityError::NoOperator(record.name)),
        }
    }

    /// Removes an operator, whose token ends at once on this node and within a second on others.
    ///
    /// # Errors
    ///
    /// `NoOperator` if there is no such operator.
    pub async fn remove_operator(&self, name: &str) -> Result<(), IdentityError> {
        let removed = self.store.remove_operator(name).await?;
        self.operator_tokens.forget();
        match removed {
            true => Ok(()),
            false => Err(IdentityError::NoOperator(name.to_owned())),
        }
    }

    /// Returns the operators with tokens of their own, by name.
    pub async fn operators(&self) -> Result<Vec<OperatorRecord>, DbError> {
        self.store.operators().await
    }

    /// Returns the operator with a token that was sent from an address. `shared` is the operator if the
    /// token is that of the data folder or the configuration. After wrong tokens, the address has to wait,
    /// also with the right one; refused tokens are recorded. If the request only reads the metrics
    /// (`reads_metrics`), tokens that were read within the last 15 minutes are enough while the database does not
    /// answer.
    ///
    /// # Errors
    ///
    /// `SlowDown`, `TokenInvalid` and `OperatorExpired`.
    pub async fn authenticate_operator(
        &self,
        token: &str,
        shared: Option<Operator>,
        address: Option<IpAddr>,
        reads_metrics: bool,
    ) -> Result<Operator, IdentityError> {
        let now = self.clock.now();
        let hash = secret::hash(token);
        let found = match (self.throttle.wait(THROTTLED, address, now), shared) {
            (Some(wait), _) => Err(IdentityError::slow_down(wait)),
            (None, Some(operator)) => Ok(operator),
            (None, None) if reads_metrics => {
                self.operator_tokens.find_for_metrics(&hash, now).await
            }
            (None, None) => self.operator_tokens.find(&hash, now).await,
        };
        let outcome = match &found {
            Ok(_) => {
                self.throttle.forget(THROTTLED, address);
                return found;
            }
            Err(IdentityError::TokenInvalid) => {
                self.throttle.count(THROTTLED, address, now);
                "token_invalid"
            }
            Err(IdentityError::OperatorExpired(_)) => "token_expired",
            Err(IdentityError::SlowDown { .. }) => "slow_down",
            // The token is not the reason.
            Err(_) => return found,
        };
        let attempt = FailedAttempt::of(AuthAction::OperatorRefused, outcome);
        self.record_failure(FailedAttempt { address, ..attempt });
        found
    }

    /// Returns the operator whose token has this SHA-256 digest, for a session that began with the token.
    ///
    /// # Errors
    ///
    /// `TokenInvalid` and `OperatorExpired`.
    pub async fn operator_of_token(&self, hash: &Digest) -> Result<Operator, IdentityError> {
        self.operator_tokens.find(hash, self.clock.now()).await
    }

    fn new_operator_token(
        &self,
        name: &str,
        role: OperatorRole,
        days: u32,
        by: &Operator,
    ) -> Result<(String, OperatorRecord), IdentityError> {
        if !(1..=MAX_OPERATOR_DAYS).contains(&days) {
            return Err(IdentityError::OperatorInvalid("days must be from 1 to 365."));
        }
        let (token, now) = (secret::new(secret::OPERATOR_TOKEN), self.clock.now());
        let record = OperatorRecord {
            name: name.to_owned(),
            role,
            token_hash: secret::hash(&token).hex(),
            made_by: by.name.to_string(),
            created_at: now,
            expires_at: now.plus(DAY * days),
            last_used_at: None,
        };
        Ok((token, record))
    }
}

/// Ensures that an operator can have a name: it is unlike that of a shared token or of a user at the socket.
fn ensure_name(name: &str) -> Result<(), IdentityError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let begins_plainly = name.bytes().next().is_some_and(is_plain);
    let is_usual = name.bytes().all(|byte| is_plain(byte) || b"._@-".contains(&byte));
    match begins_plainly && is_usual && name.len() <= MAX_NAME_BYTES && !SHARED.contains(&name) {
        true => Ok(()),
        false => Err(IdentityError::OperatorInvalid(
            "An operator's name has 1 to 64 of a-z, 0-9, ., _, @ and -, begins with a letter or a digit, and is not operator.token or operator_token.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_no_shared_token() {
        for name in ["alice", "alice.b@example.org", "ci-2", "9", &"a".repeat(64)] {
            assert!(ensure_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        let others =
            ["", ".a", "Alice", "socket:root", "a b", "ä", "a/b", "a\n", "operator.token", &long];
        for name in others.into_iter().chain(SHARED) {
            assert!(ensure_name(name).is_err(), "{name}");
        }
    }
}
