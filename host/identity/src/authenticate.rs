//! From a bearer token to the caller behind it.

use crate::{
    Identity, IdentityError,
    records::{AgentRecord, EndedRecord, commit, read, unit, write},
    register::UNUSED_MS,
    token::Verified,
};
use portolan_store::{Expectation, Unit};
use portolan_vocabulary::{AgentCaller, Timestamp};
use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// A claim or a revocation counts within this time on other nodes, and at once on its own.
const STANDING_AGE: Duration = Duration::from_secs(1);
/// How exactly an agent's last call is known: it is written at most so often.
const LAST_CALL_MS: u64 = 24 * 3600 * 1000;

/// What is read live about an agent, not from its token.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    owner_id: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    test_mode: bool,
}

/// How an agent stood.
#[derive(Debug)]
pub(super) struct Seen {
    at: Instant,
    /// How many changes this node had made of agents and tokens before.
    changes: u64,
    standing: Standing,
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
        let agent_id = Arc::clone(&verified.agent_id);
        let standing = self.look(&verified).await?;
        Ok(standing.caller(agent_id, Arc::clone(&verified.client_id), Arc::clone(&verified.scopes)))
    }

    /// How much longer a token is good at most; refuses one that is not.
    pub async fn time_left(&self, token: &str, audience: &str) -> Result<Duration, IdentityError> {
        self.authenticate(token, audience).await?;
        let expires_at = self.verify(token).await?.expires_at * 1000;
        Ok(Duration::from_millis(expires_at.saturating_sub(Timestamp::now().as_millis())))
    }

    /// How the agent of a token stands, from memory if that was read a moment ago. Refuses a token
    /// that was revoked, or whose client or grant has ended.
    async fn look(&self, verified: &Verified) -> Result<Standing, IdentityError> {
        // Before anything is read: what changes meanwhile is looked at again.
        let changes = self.changes.load(Ordering::Acquire);
        if let Some(seen) = &*verified.seen.load()
            && seen.changes == changes
            && seen.at.elapsed() < STANDING_AGE
        {
            return Ok(seen.standing.clone());
        }
        let at = Instant::now();
        if self.has_ended(&mut unit(&self.store), &verified.living).await? {
            return Err(IdentityError::TokenInvalid);
        }
        let standing = self.standing(&verified.agent_id).await?;
        let seen = Seen { at, changes, standing: standing.clone() };
        verified.seen.store(Some(Arc::new(seen)));
        Ok(standing)
    }

    /// Makes what was committed on this node count at once.
    pub(super) fn look_again(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
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

    /// How an agent stands now.
    pub(super) async fn standing(&self, agent_id: &str) -> Result<Standing, IdentityError> {
        let mut unit = unit(&self.store);
        let now = unit.now();
        let agent = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        let (agent, revision) = agent.ok_or(IdentityError::AgentGone)?;
        if agent.revoked_at.is_some() {
            return Err(IdentityError::AgentRevoked);
        }
        if agent.has_expired(now) {
            return Err(IdentityError::AgentGone);
        }
        let standing = Standing {
            owner_id: agent.owner_id.clone().map(Arc::from),
            agent_name: agent.name.clone().map(Arc::from),
            test_mode: agent.test_mode,
        };
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
        let now = unit.now();
        let agent = read::<AgentRecord>(unit, &self.records.agents, agent_id).await?;
        Ok(agent.filter(|(agent, _)| agent.revoked_at.is_none() && !agent.has_expired(now)))
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
        if agent.owner_id.is_none() && !agent.signs_in {
            agent.expires_at = Some(unused_until(now));
        }
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
