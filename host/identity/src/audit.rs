//! The functions that write identity's rows of the audit log.

use crate::{
    auth_action::AuthAction, error::IdentityError, failed_attempts::FailedAttempt,
    identity::Identity, records::commit,
};
use portolan_store::AuditRecord;
use portolan_vocabulary::AgentCaller;
use std::net::IpAddr;
use tokio::sync::watch;

impl Identity {
    /// Makes the row of something that was done.
    pub(crate) fn audit_row(&self, action: AuthAction) -> AuditRecord {
        AuditRecord::of_host(action.name(), "ok", self.clock.now())
    }

    /// Writes a row that belongs to no other change.
    pub(crate) async fn write_audit_row(&self, row: AuditRecord) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        unit.record_audit(row);
        commit(unit).await?;
        Ok(())
    }

    /// Records a failed authentication, without waiting for the database.
    pub(crate) fn record_failure(&self, attempt: FailedAttempt) {
        self.failed_attempts.add(attempt, self.clock.now());
    }

    /// Records that a person has refused a client; `owner_id` is the person who had signed in.
    pub fn record_refused_consent(
        &self,
        client_id: &str,
        owner_id: Option<String>,
        address: Option<IpAddr>,
    ) {
        self.record_failure(FailedAttempt {
            client_id: Some(client_id.to_owned()),
            owner_id,
            address,
            ..FailedAttempt::of(AuthAction::ConsentRefused, "access_denied")
        });
    }

    /// Returns the agent of a request's token, as `authenticate` does, and records a refused token.
    pub async fn authenticate_request(
        &self,
        token: &str,
        audience: &str,
        address: Option<IpAddr>,
    ) -> Result<AgentCaller, IdentityError> {
        let authenticated = self.authenticate(token, audience).await;
        if let Err(error) = &authenticated
            && let Some(outcome) = outcome(error)
        {
            // Only a signature of this host shows whose token it is. An agent that is not there may be that of
            // an erased person.
            let signed = self.verified.get(token);
            let signed = signed.filter(|_| !matches!(error, IdentityError::AgentExpired));
            self.record_failure(FailedAttempt {
                client_id: signed.as_ref().map(|signed| signed.client_id.to_string()),
                agent_id: signed.as_ref().map(|signed| signed.agent_id.to_string()),
                address,
                ..FailedAttempt::of(AuthAction::TokenRefused, outcome)
            });
        }
        authenticated.map(|caller| AgentCaller { address, ..caller })
    }

    /// Writes the failed authentications to the audit log until `stop` becomes true, and then what is left.
    pub async fn write_failed_attempts(&self, mut stop: watch::Receiver<bool>) {
        loop {
            let is_end = *stop.borrow();
            let rows = self.failed_attempts.take(self.clock.now(), is_end);
            let count = rows.len();
            if count > 0 {
                let mut unit = self.unit();
                rows.into_iter().for_each(|row| unit.record_audit(row));
                if let Err(error) = commit(unit).await {
                    tracing::error!(%error, count, "failed authentications are not in the audit log");
                }
            }
            if is_end {
                return;
            }
            let next = self.failed_attempts.next();
            let next_row = async {
                match next {
                    Some(next) => self.clock.sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = next_row => {}
                () = self.failed_attempts.first.notified() => {}
                stopped = stop.changed() => if stopped.is_err() { return },
            }
        }
    }
}

/// Returns the outcome of a refused token; `None` if the token is not the reason.
fn outcome(error: &IdentityError) -> Option<&'static str> {
    match error {
        IdentityError::TokenInvalid => Some("token_invalid"),
        IdentityError::TokenExpired => Some("token_expired"),
        IdentityError::AudienceMismatch { .. } => Some("audience_mismatch"),
        IdentityError::AgentRevoked => Some("client_revoked"),
        IdentityError::AgentExpired => Some("identity_expired"),
        _ => None,
    }
}
