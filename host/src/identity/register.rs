//! Registration: an agent and the client it authenticates with, without a human account.

use crate::{
    db::{Expectation, Unit},
    identity::{
        Identity, IdentityError,
        records::{AgentRecord, ClientRecord, commit_new, write},
        secret,
    },
    vocabulary::{Timestamp, new_identifier},
};

/// What an agent says of itself.
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

/// A new agent. The secrets are in no other place: they cannot be shown again.
pub struct Registered {
    pub registration_id: String,
    pub agent_id: String,
    pub client_id: String,
    pub client_secret: String,
    pub client_key: String,
    pub created_at: Timestamp,
}

impl Identity {
    pub async fn register(&self, registration: Registration) -> Result<Registered, IdentityError> {
        let now = Timestamp::now();
        let identifier =
            |prefix| Ok::<_, IdentityError>(new_identifier(prefix, now, secret::random()?));
        let key_prefix =
            if registration.test_mode { secret::TEST_CLIENT_KEY } else { secret::CLIENT_KEY };
        let registered = Registered {
            registration_id: identifier("reg")?,
            agent_id: identifier("agt")?,
            client_id: identifier("cli")?,
            client_secret: secret::new("")?,
            client_key: secret::new(key_prefix)?,
            created_at: now,
        };
        let agent = AgentRecord {
            identity_type: registration.identity_type.to_owned(),
            name: registration.agent_name,
            software_id: registration.software_id,
            software_version: registration.software_version,
            install_id: registration.install_id,
            test_mode: registration.test_mode,
            owner_id: None,
            claimed_at: None,
            revoked_at: None,
        };
        let client = ClientRecord {
            agent_id: registered.agent_id.clone(),
            secret_hash: secret::hash(&registered.client_secret).hex(),
            key_hash: secret::hash(&registered.client_key).hex(),
        };
        let mut unit = Unit::new(self.store.clone(), now);
        let (agents, clients) = (&self.records.agents, &self.records.clients);
        write(&mut unit, agents, &registered.agent_id, &agent, Expectation::Absent).await?;
        write(&mut unit, clients, &registered.client_id, &client, Expectation::Absent).await?;
        commit_new(unit).await?;
        Ok(registered)
    }
}
