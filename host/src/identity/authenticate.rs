//! From a bearer token to the caller behind it.

use crate::{
    db::{Expectation, Unit},
    identity::{
        Identity, IdentityError,
        records::{AgentRecord, EndedRecord, commit, read, unit, write},
        register::UNUSED_MS,
        token::Verified,
    },
    vocabulary::{AgentCaller, Timestamp},
};
use std::sync::Arc;

/// How exactly an agent's last call is known: it is written at most so often.
const LAST_CALL_MS: u64 = 24 * 3600 * 1000;

/// What is read live about an agent, not from its token.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    owner_id: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    test_mode: bool,
}

impl Standing {
    pub(super) fn caller(
        self,
        agent_id: Arc<str>,
        client_id: Arc<str>,
        scopes: Arc<[String]>,
    ) -> AgentCaller {
        let Self { owner_id, agent_name, test_mode } = self;
        AgentCaller { agent_id, client_id, owner_id, agent_name, scopes, test_mode, address: None }
    }
}

impl Identity {
    /// The agent that presents this token to one of the surfaces.
    pub async fn authenticate(
        &self,
        token: &str,
        audience: &str,
    ) -> Result<AgentCaller, IdentityError> {
        let verified = self.verify(token).await?;
        // Looked at after the signature: a forged token is told nothing about audiences.
        if *verified.audience != *audience {
            return Err(IdentityError::OtherAudience);
        }
        self.check_living(&verified).await?;
        let agent_id = Arc::clone(&verified.agent_id);
        let standing = self.standing(&agent_id).await?;
        Ok(standing.caller(agent_id, Arc::clone(&verified.client_id), Arc::clone(&verified.scopes)))
    }

    /// Refuses a token that was revoked, or whose client or grant has ended.
    async fn check_living(&self, verified: &Arc<Verified>) -> Result<(), IdentityError> {
        // Every token has an id of its own, so this one's first is its key.
        let Some(id) = verified.living.first() else { return Err(IdentityError::TokenInvalid) };
        if self.living.contains_key(id.as_str()) {
            return Ok(());
        }
        if self.has_ended(&mut unit(&self.store), &verified.living).await? {
            return Err(IdentityError::TokenInvalid);
        }
        self.living.insert(Arc::from(id.as_str()), ());
        Ok(())
    }

    pub(super) async fn has_ended(
        &self,
        unit: &mut Unit,
        ids: &[String],
    ) -> Result<bool, IdentityError> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).filter(|id| is_own(id)).collect();
        let ended = unit.get_many(&self.records.ended, &ids).await?;
        Ok(ended.iter().any(Option::is_some))
    }

    /// From now on, tokens that have this id as theirs, their client's or their grant's are refused,
    /// until none is left.
    pub(super) async fn end(&self, unit: &mut Unit, id: &str) -> Result<(), IdentityError> {
        let life = self.settings.access_seconds * 1000;
        let ended = EndedRecord { expires_at: unit.now().as_millis() + 2 * life };
        write(unit, &self.records.ended, id, &ended, Expectation::Any).await?;
        Ok(())
    }

    pub(super) async fn standing(&self, agent_id: &Arc<str>) -> Result<Standing, IdentityError> {
        if let Some(standing) = self.standings.get(agent_id) {
            return Ok(standing);
        }
        let mut unit = unit(&self.store);
        let now = unit.now();
        let agent = self.read_agent(&mut unit, agent_id).await?;
        let (agent, revision) = agent.ok_or(IdentityError::AgentGone)?;
        let standing = Standing {
            owner_id: agent.owner_id.clone().map(Arc::from),
            agent_name: agent.name.clone().map(Arc::from),
            test_mode: agent.test_mode,
        };
        self.standings.insert(Arc::clone(agent_id), standing.clone());
        if agent.last_call_at.is_none_or(|last| last + LAST_CALL_MS < now.as_millis()) {
            self.note_call(unit, agent_id, agent, revision).await?;
        }
        Ok(standing)
    }

    /// An agent that is neither revoked nor expired.
    pub(super) async fn read_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<Option<(AgentRecord, u64)>, IdentityError> {
        let now = unit.now().as_millis();
        let agent = read::<AgentRecord>(unit, &self.records.agents, agent_id).await?;
        Ok(agent.filter(|(agent, _)| {
            agent.revoked_at.is_none() && agent.expires_at.is_none_or(|end| end > now)
        }))
    }

    /// An anonymous agent that calls lives on.
    async fn note_call(
        &self,
        mut unit: Unit,
        agent_id: &str,
        mut agent: AgentRecord,
        revision: u64,
    ) -> Result<(), IdentityError> {
        let now = unit.now();
        agent.last_call_at = Some(now.as_millis());
        agent.expires_at = agent.owner_id.is_none().then(|| unused_until(now));
        let expect = Expectation::Revision(revision);
        write(&mut unit, &self.records.agents, agent_id, &agent, expect).await?;
        // If somebody else has changed the agent meanwhile, the next reading notes the call.
        commit(unit).await?;
        Ok(())
    }
}

/// When an anonymous agent that does not call expires, in milliseconds since the Unix epoch.
pub(super) fn unused_until(last_call: Timestamp) -> u64 {
    last_call.as_millis() + UNUSED_MS
}

/// Not an address that a client is known by, which cannot be a record's id.
fn is_own(id: &str) -> bool {
    !id.contains(':')
}
