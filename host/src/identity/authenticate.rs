//! From a bearer token to the caller behind it.

use crate::{
    identity::{
        Identity, IdentityError,
        records::{AgentRecord, read, unit},
    },
    vocabulary::AgentCaller,
};
use std::sync::Arc;

/// What is read live about an agent, not from its token.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    owner_id: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    test_mode: bool,
}

impl Identity {
    /// The agent that presents this token.
    pub async fn authenticate(&self, token: &str) -> Result<AgentCaller, IdentityError> {
        let verified = self.verify(token)?;
        let standing = self.standing(&verified.agent_id).await?;
        Ok(AgentCaller {
            agent_id: Arc::clone(&verified.agent_id),
            client_id: Arc::clone(&verified.client_id),
            owner_id: standing.owner_id,
            agent_name: standing.agent_name,
            scopes: Arc::clone(&verified.scopes),
            test_mode: standing.test_mode,
        })
    }

    async fn standing(&self, agent_id: &Arc<str>) -> Result<Standing, IdentityError> {
        if let Some(standing) = self.standings.get(agent_id) {
            return Ok(standing);
        }
        let mut unit = unit(&self.store);
        let agent = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        let agent = agent.map(|(agent, _)| agent).filter(|agent| agent.revoked_at.is_none());
        let agent = agent.ok_or(IdentityError::AgentGone)?;
        let standing = Standing {
            owner_id: agent.owner_id.map(Arc::from),
            agent_name: agent.name.map(Arc::from),
            test_mode: agent.test_mode,
        };
        self.standings.insert(Arc::clone(agent_id), standing.clone());
        Ok(standing)
    }
}
