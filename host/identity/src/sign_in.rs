//! Agents that exist only to verify the phone number of a person who signs in with a browser.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{commit, commit_or_conflict, write},
    register::Registration,
    secret,
};
use portolan_store::Expectation;
use portolan_vocabulary::{AgentCaller, new_identifier};

/// The life of an agent of a sign-in.
const SIGN_IN_LIFE_MS: u64 = 3_600_000;

impl Identity {
    /// Registers the agent that requests and verifies a code for a person who signs in. It has no
    /// client, and it is never bound to an owner.
    pub async fn register_sign_in_agent(
        &self,
        name: Option<&str>,
    ) -> Result<AgentCaller, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now();
        let agent_id = new_identifier("agt", now, secret::random());
        let agent = Registration {
            identity_type: "client",
            agent_name: name.map(str::to_owned),
            ..Registration::default()
        };
        let mut agent = agent.record(now, None);
        agent.expires_at = Some(now.as_millis() + SIGN_IN_LIFE_MS);
        agent.signs_in = true;
        write(&mut unit, &self.records.agents, &agent_id, &agent, Expectation::Absent).await?;
        commit_or_conflict(unit).await?;
        self.lookup_caller(&agent_id).await
    }

    /// Revokes the agent of a sign-in, whose code has been verified.
    pub async fn revoke_sign_in_agent(&self, agent_id: &str) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        self.revoke_agent(&mut unit, agent_id).await?;
        // After a conflict, the agent expires by itself within the hour.
        commit(unit).await?;
        self.invalidate_standings();
        Ok(())
    }
}
