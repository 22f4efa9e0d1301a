//! The agent as which a person acts on their own page, without any other agent.
//!
//! Each person has one, made when they first need it. It has no client and no token, is in no list of the
//! person's agents and cannot be revoked: who has a session acts, and nobody else can. It is named by the
//! documents of capabilities, and is erased with its person.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, commit, read, write},
    register::Registration,
    sessions::Session,
};
use portolan_store::{Expectation, Unit};
use portolan_vocabulary::{AgentCaller, Digest, SCOPES, Timestamp, new_identifier};

/// The type of identity in the record of such an agent.
pub(crate) const IDENTITY_TYPE: &str = "page";
/// The name by which others see it.
const NAME: &str = "Account page";

/// Returns the id of the agent of a person's page.
fn id_of(owner_id: &str, created_at: Timestamp) -> String {
    let digest = Digest::of(format!("page {owner_id}").as_bytes()).hex();
    let bits = digest.get(..32).and_then(|digits| u128::from_str_radix(digits, 16).ok());
    new_identifier("agt", created_at, bits.unwrap_or_default())
}

impl Identity {
    /// Returns the caller as which the person of a session acts on their own page, with every scope.
    pub async fn page_caller(&self, session: &Session) -> Result<AgentCaller, IdentityError> {
        let agent_id = self.page_agent_id(&session.owner_id).await?;
        let caller = match self.lookup_caller(&agent_id).await {
            Err(IdentityError::AgentExpired | IdentityError::AgentRevoked) => {
                self.write_page_agent(&session.owner_id, &agent_id).await?;
                self.lookup_caller(&agent_id).await?
            }
            found => found?,
        };
        Ok(AgentCaller { scopes: SCOPES.map(str::to_owned).into(), ..caller })
    }

    /// Returns the id of the agent as which a person acts on their page. It follows from the person's, so that
    /// there is only one.
    pub async fn page_agent_id(&self, owner_id: &str) -> Result<String, IdentityError> {
        let mut unit = self.unit();
        let owner = unit.get(&self.records.owners, owner_id).await?;
        let owner = owner.ok_or(IdentityError::SessionEnded)?;
        Ok(id_of(owner_id, owner.created_at))
    }

    /// Returns whether a person has used their page, and not so long ago that its agent has expired.
    pub(crate) async fn uses_page(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<bool, IdentityError> {
        let now = unit.now();
        let owner = unit.get(&self.records.owners, owner_id).await?;
        let Some(owner) = owner else { return Ok(false) };
        let agent_id = id_of(owner_id, owner.created_at);
        let agent = read::<AgentRecord>(unit, &self.records.agents, &agent_id).await?;
        Ok(agent.is_some_and(|(agent, _)| !agent.has_expired(now)))
    }

    /// Writes the record of the agent of a person's page, unless another request has just done it.
    async fn write_page_agent(&self, owner_id: &str, agent_id: &str) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
        let now = unit.now();
        let earlier = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        let expect =
            earlier.map_or(Expectation::Absent, |(_, revision)| Expectation::Revision(revision));
        let registration = Registration {
            identity_type: IDENTITY_TYPE,
            agent_name: Some(NAME.to_owned()),
            test_mode: owner.is_of_test_mode(),
            ..Registration::default()
        };
        let mut agent = registration.record(now, None);
        agent.owner_id = Some(owner_id.to_owned());
        agent.expires_at = agent.expiry(now);
        write(&mut unit, &self.records.agents, agent_id, &agent, expect).await?;
        commit(unit).await?;
        self.invalidate_standings();
        Ok(())
    }
}
