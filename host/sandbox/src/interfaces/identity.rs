//! `identity`: the register of people and their agents, changed in the call's unit of work.

use crate::{
    contract::{identity, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    services::{People, StateFuture},
    state::CallState,
};
use portolan_store::Unit;
use portolan_vocabulary::{KnownOwner, OwnedAgent, Timestamp};
use rand::RngExt as _;
use std::sync::Arc;

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Identity, |linker| {
    identity::add_to_linker::<_, TapedState>(linker, taped)
});

impl identity::Host for CallState {
    async fn claim(&mut self, person_key: String) -> Reply<identity::Claimed> {
        Ok(self.claim_agent(person_key).await)
    }

    async fn unclaim(&mut self) -> Reply<()> {
        let agent = match self.calling_agent() {
            Ok(agent) => Arc::clone(&agent.agent_id),
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.change_people(move |people, unit| people.unclaim(unit, agent)).await)
    }

    async fn rebind(&mut self, owner_id: String, person_key: String) -> Reply<()> {
        Ok(self.change_people(move |people, unit| people.rebind(unit, owner_id, person_key)).await)
    }

    async fn owner(&mut self, owner_id: String) -> Reply<Option<identity::Person>> {
        let owner = self.read_people(move |people, unit| people.owner(unit, owner_id)).await;
        let view = |owner: KnownOwner| identity::Person {
            created_at: owner.created_at.as_millis(),
            test_mode: owner.test_mode,
            agents: u32::try_from(owner.agents).unwrap_or(u32::MAX),
        };
        Ok(owner.map(|owner| owner.map(view)))
    }

    async fn agents(&mut self, owner_id: String) -> Reply<Vec<identity::Agent>> {
        let agents = self.read_people(move |people, unit| people.agents(unit, owner_id)).await;
        let view = |agent: OwnedAgent| identity::Agent {
            agent_id: agent.agent_id,
            name: agent.name,
            created_at: agent.created_at.as_millis(),
            claimed_at: agent.claimed_at.map(Timestamp::as_millis),
        };
        Ok(agents.map(|agents| agents.into_iter().map(view).collect()))
    }

    async fn last_call(&mut self, owner_id: String) -> Reply<Option<u64>> {
        let agents = self.read_people(move |people, unit| people.agents(unit, owner_id)).await;
        let last = |agents: Vec<OwnedAgent>| {
            let calls = agents.into_iter().filter_map(|agent| agent.last_call_at);
            calls.map(Timestamp::as_millis).max()
        };
        Ok(agents.map(last))
    }

    async fn rename(&mut self, agent_id: String, name: String) -> Reply<()> {
        let agent = Arc::from(agent_id);
        Ok(self.change_people(move |people, unit| people.rename(unit, agent, name)).await)
    }

    async fn revoke(&mut self, agent_id: String) -> Reply<()> {
        let agent = Arc::from(agent_id);
        Ok(self.change_people(move |people, unit| people.revoke(unit, agent)).await)
    }

    async fn sign_out(&mut self, owner_id: String) -> Reply<()> {
        Ok(self.change_people(move |people, unit| people.sign_out(unit, owner_id)).await)
    }
}

impl CallState {
    async fn claim_agent(&mut self, person_key: String) -> Answer<identity::Claimed> {
        let agent = Arc::clone(&self.calling_agent()?.agent_id);
        let random = self.random.host().random();
        let claimed = self
            .change_people(move |people, unit| people.claim(unit, agent, person_key, random))
            .await?;
        Ok(identity::Claimed {
            owner_id: claimed.owner_id,
            linked_existing: claimed.linked_existing,
        })
    }

    /// Reads the register in the call's unit of work.
    pub(super) async fn read_people<T>(
        &mut self,
        read: impl for<'a> FnOnce(&'a dyn People, &'a mut Unit) -> StateFuture<'a, T>,
    ) -> Answer<T> {
        let work = self.work()?;
        let services = Arc::clone(&work.services);
        let missing = || HostError::Unavailable("this host knows no people".to_owned());
        let people = services.people().ok_or_else(missing)?;
        let result = read(people, &mut work.unit).await;
        self.answer(result)
    }

    /// Changes the register in the call's unit of work; `invalid` in an action of access `read`.
    pub(super) async fn change_people<T>(
        &mut self,
        change: impl for<'a> FnOnce(&'a dyn People, &'a mut Unit) -> StateFuture<'a, T>,
    ) -> Answer<T> {
        self.writable_work()?;
        self.read_people(change).await
    }
}
