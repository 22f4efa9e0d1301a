//! The authentication of a calling agent by its bearer token.
//!
//! The standing of an agent (whether it exists, and who its owner is) is read from the records and
//! cached for a second. A change that this node makes invalidates its cache at once, by a counter
//! of changes. The other nodes are told of it and invalidate theirs; if that is lost, they notice the
//! change within that second. A call that would be refused for its caller's standing is judged by one
//! that is read anew ([`Identity::renewed`]), so a claim holds on every node from its commit on.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, RevocationRecord, commit, read, write},
    token::{CachedStanding, Standing, VerifiedToken},
};
use portolan_store::{Expectation, Unit};
use portolan_vocabulary::AgentCaller;
use std::{sync::Arc, time::Duration};

/// The time for which a standing is cached.
const STANDING_AGE_MS: u64 = 1_000;
/// The minimum time between two updates of an agent's stored time of last call.
const LAST_CALL_INTERVAL_MS: u64 = 24 * 3600 * 1000;

impl Identity {
    /// Returns the agent of a token that must be for this audience. Refuses a token that is
    /// invalid, expired or revoked, and one of an agent that is revoked or expired.
    pub async fn authenticate(
        &self,
        token: &str,
        audience: &str,
    ) -> Result<AgentCaller, IdentityError> {
        let verified = self.verify(token).await?;
        // The audience is compared after the signature is verified, so that a forged token cannot be used to
        // guess audiences.
        if *verified.audience != *audience {
            return Err(IdentityError::AudienceMismatch { metadata: self.metadata_path(audience) });
        }
        let agent_id = Arc::clone(&verified.agent_id);
        let standing = self.standing_of(&verified).await?;
        Ok(standing.caller(agent_id, Arc::clone(&verified.client_id), Arc::clone(&verified.scopes)))
    }

    /// Returns whether this host has signed a token, for any audience, that has not expired.
    pub async fn is_valid_token(&self, token: &str) -> bool {
        self.verify(token).await.is_ok()
    }

    /// Authenticates a token, and returns the time until its expiry.
    pub async fn remaining_life(
        &self,
        token: &str,
        audience: &str,
    ) -> Result<Duration, IdentityError> {
        self.authenticate(token, audience).await?;
        let expires_at_ms = self.verify(token).await?.expires_at * 1000;
        Ok(Duration::from_millis(expires_at_ms.saturating_sub(self.clock.now().as_millis())))
    }

    /// Returns an agent as a caller without a client and without scopes.
    pub async fn lookup_caller(&self, agent_id: &str) -> Result<AgentCaller, IdentityError> {
        let agent_id: Arc<str> = Arc::from(agent_id);
        Ok(self.load_standing(&agent_id).await?.caller(agent_id, Arc::from(""), Arc::from([])))
    }

    /// Returns a caller with the standing that its agent has now; `None` if the agent may not call any more, or the
    /// records cannot be read. The token was checked before, and its scopes do not change.
    pub async fn renewed(&self, caller: &AgentCaller) -> Option<AgentCaller> {
        let standing = self.load_standing(&caller.agent_id).await.ok()?;
        let (agent_id, client_id) = (Arc::clone(&caller.agent_id), Arc::clone(&caller.client_id));
        let renewed = standing.caller(agent_id, client_id, Arc::clone(&caller.scopes));
        Some(AgentCaller { address: caller.address, ..renewed })
    }

    /// Returns the standing of a token's agent, from the cache if it was read within the last second. Refuses
    /// a token that was revoked, or whose client or grant was revoked.
    async fn standing_of(&self, verified: &VerifiedToken) -> Result<Standing, IdentityError> {
        // The counter is read before the records, so that a change in between is noticed next time.
        let (invalidations, now) = (self.invalidations(), self.clock.now());
        if let Some(cached) = &*verified.standing.load()
            && cached.invalidations == invalidations
            && cached.is_younger_than(STANDING_AGE_MS, now)
        {
            return Ok(cached.standing.clone());
        }
        // Boxed, because few requests get here, and the future of each would have room for it.
        let standing = Box::pin(async {
            if self.is_any_revoked(&mut self.unit(), &verified.revocable_ids).await? {
                return Err(IdentityError::TokenInvalid);
            }
            self.load_standing(&verified.agent_id).await
        });
        let standing = standing.await?;
        let cached = CachedStanding { read_at: now, invalidations, standing: standing.clone() };
        verified.standing.store(Some(Arc::new(cached)));
        Ok(standing)
    }

    /// Returns whether one of these ids was revoked.
    pub(crate) async fn is_any_revoked(
        &self,
        unit: &mut Unit,
        ids: &[String],
    ) -> Result<bool, IdentityError> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).filter(|id| is_record_id(id)).collect();
        let revoked = unit.get_many(&self.records.revoked, &ids).await?;
        Ok(revoked.iter().any(Option::is_some))
    }

    /// Records a revocation. From the commit of this unit on, every token is refused that has this id as
    /// its own, its client's or its grant's. The record is kept until the last such token has expired.
    pub(crate) async fn record_revocation(
        &self,
        unit: &mut Unit,
        id: &str,
    ) -> Result<(), IdentityError> {
        let life_ms = self.settings.access_seconds * 1000;
        let record = RevocationRecord { expires_at: unit.now().as_millis() + 2 * life_ms };
        write(unit, &self.records.revoked, id, &record, Expectation::Any).await?;
        Ok(())
    }

    /// Loads the standing of an agent, and records the time of its call if none was recorded within
    /// a day.
    async fn load_standing(&self, agent_id: &str) -> Result<Standing, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now();
        let agent = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        let (agent, revision) = agent.ok_or(IdentityError::AgentExpired)?;
        if agent.revoked_at.is_some() {
            return Err(IdentityError::AgentRevoked);
        }
        if agent.has_expired(now) {
            return Err(IdentityError::AgentExpired);
        }
        self.ensure_mode(agent.test_mode)?;
        let (suspension, policy) = match &agent.owner_id {
            Some(owner_id) => self.find_limits(&mut unit, owner_id).await?,
            None => (None, None),
        };
        let standing = Standing {
            owner_id: agent.owner_id.clone().map(Arc::from),
            agent_name: agent.name.clone().map(Arc::from),
            test_mode: agent.test_mode,
            suspension,
            policy,
        };
        if agent.last_call_at.is_none_or(|last| last + LAST_CALL_INTERVAL_MS < now.as_millis()) {
            self.record_call(unit, agent_id, agent, revision).await?;
        }
        Ok(standing)
    }

    /// Finds an agent that is neither revoked nor expired, nor of test mode while it is off.
    pub(crate) async fn find_active_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<Option<(AgentRecord, u64)>, IdentityError> {
        let now = unit.now();
        let agent = read::<AgentRecord>(unit, &self.records.agents, agent_id).await?;
        let is_active = |agent: &AgentRecord| {
            agent.revoked_at.is_none()
                && !agent.has_expired(now)
                && self.ensure_mode(agent.test_mode).is_ok()
        };
        Ok(agent.filter(|(agent, _)| is_active(agent)))
    }

    /// Writes the time of an agent's call. This extends the expiry of an agent that expires, except one that
    /// exists for a sign-in only.
    async fn record_call(
        &self,
        mut unit: Unit,
        agent_id: &str,
        mut agent: AgentRecord,
        revision: u64,
    ) -> Result<(), IdentityError> {
        let now = unit.now();
        agent.last_call_at = Some(now.as_millis());
        if !agent.signs_in {
            agent.expires_at = agent.expiry(now);
        }
        let expect = Expectation::Revision(revision);
        write(&mut unit, &self.records.agents, agent_id, &agent, expect).await?;
        // After a conflict, the time of the next call is recorded instead.
        commit(unit).await?;
        Ok(())
    }
}

/// Returns whether a text can be the id of a record. The id of a client that is known by its document cannot:
/// it is an address, and has a colon.
pub(crate) fn is_record_id(id: &str) -> bool {
    !id.contains(':')
}
