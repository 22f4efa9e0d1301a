//! Registration of agents: an identity and the client that it authenticates with, without an account
//! of a person.

use crate::{
    auth_action::AuthAction,
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, ClientRecord, commit_or_conflict, unused_expiry, write},
    secret,
};
use portolan_store::{AuditRecord, Expectation};
use portolan_vocabulary::{Timestamp, new_identifier};

/// The data with which an agent registers.
#[derive(Debug, Default)]
pub struct Registration {
    /// `anonymous` or `client`.
    pub identity_type: &'static str,
    pub agent_name: Option<String>,
    pub software_id: Option<String>,
    pub software_version: Option<String>,
    pub install_id: Option<String>,
    pub test_mode: bool,
}

/// A new agent with its secrets. Only their hashes are stored, so they cannot be shown again.
pub struct Registered {
    pub registration_id: String,
    pub agent_id: String,
    pub client_id: String,
    pub client_secret: String,
    pub client_key: String,
    pub created_at: Timestamp,
}

impl Registration {
    /// Returns the record of an agent without an owner.
    pub(crate) fn record(self, now: Timestamp, client_id: Option<String>) -> AgentRecord {
        AgentRecord {
            identity_type: self.identity_type.to_owned(),
            name: self.agent_name,
            software_id: self.software_id,
            software_version: self.software_version,
            install_id: self.install_id,
            test_mode: self.test_mode,
            owner_id: None,
            former_owner_id: None,
            claimed_at: None,
            revoked_at: None,
            signs_in: false,
            approval: None,
            consent: None,
            client_id,
            last_call_at: Some(now.as_millis()),
            expires_at: Some(unused_expiry(now)),
        }
    }
}

impl Identity {
    /// Registers an agent and its client. Refuses a name that could deceive the people who read it.
    pub async fn register(&self, registration: Registration) -> Result<Registered, IdentityError> {
        self.ensure_mode(registration.test_mode)?;
        if let Some(name) = &registration.agent_name {
            portolan_names::check(name)?;
        }
        let mut unit = self.unit();
        let now = unit.now();
        let identifier = |prefix| new_identifier(prefix, now, secret::random());
        let key_prefix =
            if registration.test_mode { secret::TEST_CLIENT_KEY } else { secret::CLIENT_KEY };
        let registered = Registered {
            registration_id: identifier("reg"),
            agent_id: identifier("agt"),
            client_id: identifier("cli"),
            client_secret: secret::new(""),
            client_key: secret::new(key_prefix),
            created_at: now,
        };
        let agent = registration.record(now, Some(registered.client_id.clone()));
        let client = ClientRecord {
            expires_at: None,
            agent_id: Some(registered.agent_id.clone()),
            secret_hash: Some(secret::hash(&registered.client_secret).hex()),
            key_hash: Some(secret::hash(&registered.client_key).hex()),
            metadata: None,
            registration_token_hash: None,
        };
        let (agents, clients) = (&self.records.agents, &self.records.clients);
        write(&mut unit, agents, &registered.agent_id, &agent, Expectation::Absent).await?;
        write(&mut unit, clients, &registered.client_id, &client, Expectation::Absent).await?;
        unit.record_audit(AuditRecord {
            client_id: Some(registered.client_id.clone()),
            agent_id: Some(registered.agent_id.clone()),
            ..self.audit_row(AuthAction::AgentRegistered)
        });
        commit_or_conflict(unit).await?;
        Ok(registered)
    }

    /// Returns whether agents of test mode may register.
    pub fn has_test_mode(&self) -> bool {
        self.settings.test_mode
    }

    /// Returns an error for test mode if it is off.
    pub(crate) fn ensure_mode(&self, test_mode: bool) -> Result<(), IdentityError> {
        match test_mode && !self.settings.test_mode {
            true => Err(IdentityError::TestModeOff),
            false => Ok(()),
        }
    }
}
