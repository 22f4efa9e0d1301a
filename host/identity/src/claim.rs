//! Who stands behind an agent: in the unit of work of the call that finds it out.

use crate::{
    Identity, IdentityError,
    authenticate::unused_until,
    records::{self, AgentRecord, OwnerRecord, PersonRecord, parse, read, write},
};
use portolan_sandbox::{People, StateFuture};
use portolan_store::{
    Document, Expectation, OutboxCommand, StateError, TimerChange, TimerKey, Unit,
};
use portolan_vocabulary::{
    Claimed, KnownOwner, OwnedAgent, PHONE_BINDING, Timestamp, new_identifier,
};
use serde_json::json;
use std::sync::Arc;

/// Agents of one person, and of one that stands for everybody.
const AGENTS: usize = 10;
const TEST_AGENTS: usize = 100;
const NAME_CHARACTERS: usize = 100;
const PERSON_KEY_BYTES: usize = 100;
/// Before the key of a person of test mode, who is nobody in live mode.
const TEST: &str = "test:";

impl People for Identity {
    fn claim<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        person_key: String,
        random: u128,
    ) -> StateFuture<'a, Claimed> {
        Box::pin(async move { self.claim(unit, &agent_id, &person_key, random).await })
    }

    fn unclaim<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> StateFuture<'a, ()> {
        Box::pin(async move {
            self.part(unit, &agent_id, |agent, _| agent.claimed_at = None).await?;
            unit.add_command(OutboxCommand::DropWebhooksOf { agent_id: agent_id.to_string() });
            Ok(())
        })
    }

    fn rebind<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        person_key: String,
    ) -> StateFuture<'a, ()> {
        Box::pin(async move { self.rebind(unit, &owner_id, &person_key).await })
    }

    fn owner<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, Option<KnownOwner>> {
        Box::pin(async move { self.known_owner(unit, &owner_id).await })
    }

    fn agents<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, Vec<OwnedAgent>> {
        Box::pin(async move { self.agents(unit, &owner_id).await })
    }

    fn rename<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        name: String,
    ) -> StateFuture<'a, ()> {
        Box::pin(async move { self.rename(unit, &agent_id, name).await })
    }

    fn revoke<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> StateFuture<'a, ()> {
        Box::pin(async move { self.end_agent(unit, &agent_id).await })
    }
}

impl Identity {
    async fn claim(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        person_key: &str,
        random: u128,
    ) -> Result<Claimed, StateError> {
        if person_key.is_empty() || person_key.len() > PERSON_KEY_BYTES {
            let text = format!("a person's key has 1 to {PERSON_KEY_BYTES} bytes");
            return Err(StateError::Invalid(text));
        }
        let (agent, revision) = self.living_agent(unit, agent_id).await?;
        let key = match agent.test_mode {
            true => format!("{TEST}{person_key}"),
            false => person_key.to_owned(),
        };
        let known = read::<PersonRecord>(unit, &self.records.persons, &key).await?;
        let linked_existing = known.is_some();
        let owner_id = match known {
            Some((person, _)) => person.owner_id,
            None => {
                let owner_id = new_identifier("own", unit.now(), random);
                let person = PersonRecord { owner_id: owner_id.clone() };
                let owner = OwnerRecord { person_key: key.clone(), agents: Vec::new() };
                write(unit, &self.records.persons, &key, &person, Expectation::Absent).await?;
                write(unit, &self.records.owners, &owner_id, &owner, Expectation::Absent).await?;
                owner_id
            }
        };
        match &agent.owner_id {
            Some(owner) if *owner == owner_id => {
                return Ok(Claimed { owner_id, linked_existing });
            }
            Some(_) => return Err(StateError::Conflict),
            None if agent.signs_in => return Ok(Claimed { owner_id, linked_existing }),
            None => {}
        }
        let expect = Expectation::Revision(revision);
        self.give(unit, (agent_id, expect), agent, &owner_id).await?;
        Ok(Claimed { owner_id, linked_existing })
    }

    /// A new agent of a person who is known. The capability that proves phones tells of it, as of every
    /// claim.
    pub(super) async fn adopt(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        agent: AgentRecord,
        owner_id: &str,
    ) -> Result<(), StateError> {
        let test_mode = agent.test_mode;
        let before = self.give(unit, (agent_id, Expectation::Absent), agent, owner_id).await?;
        let name = format!("adopted/{agent_id}");
        let key = TimerKey { capability: PHONE_BINDING.to_owned(), name: name.clone(), test_mode };
        let input =
            json!({ "agent_id": agent_id, "owner_id": owner_id, "linked_existing": before > 0 });
        let (at, action, input) = (unit.now(), "adopted".to_owned(), input.to_string());
        unit.change_timer(key, TimerChange::Set { setting: name, at, action, input });
        Ok(())
    }

    /// Puts an agent among a person's. Answers how many others there are.
    async fn give(
        &self,
        unit: &mut Unit,
        (agent_id, expect): (&str, Expectation),
        mut agent: AgentRecord,
        owner_id: &str,
    ) -> Result<usize, StateError> {
        let (mut owner, mut revision) = self.owner(unit, owner_id).await?;
        if !agent.test_mode && owner.agents.len() >= AGENTS {
            return Err(StateError::Limit(format!("a person has at most {AGENTS} agents")));
        }
        // In test mode a few numbers stand for everybody: the first makes room for the next.
        if agent.test_mode
            && let Some(first) = owner.agents.iter().rev().nth(TEST_AGENTS - 1).cloned()
        {
            self.part(unit, &first, |agent, _| agent.claimed_at = None).await?;
            (owner, revision) = self.owner(unit, owner_id).await?;
        }
        let before = owner.agents.len();
        owner.agents.push(agent_id.to_owned());
        let unchanged = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, unchanged).await?;
        agent.owner_id = Some(owner_id.to_owned());
        agent.claimed_at = Some(unit.now().as_millis());
        agent.expires_at = None;
        write(unit, &self.records.agents, agent_id, &agent, expect).await?;
        Ok(before)
    }

    /// Parts an agent from its person, and changes it further.
    pub(super) async fn part(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        change: impl FnOnce(&mut AgentRecord, u64),
    ) -> Result<(), StateError> {
        let (mut agent, revision) = self.living_agent(unit, agent_id).await?;
        if let Some(owner_id) = agent.owner_id.take() {
            let (mut owner, revision) = self.owner(unit, &owner_id).await?;
            owner.agents.retain(|id| id != agent_id);
            let expect = Expectation::Revision(revision);
            write(unit, &self.records.owners, &owner_id, &owner, expect).await?;
            agent.expires_at = Some(unused_until(unit.now()));
        }
        change(&mut agent, unit.now().as_millis());
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.agents, agent_id, &agent, expect).await
    }

    /// Ends an agent for good.
    pub(super) async fn end_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<(), StateError> {
        self.part(unit, agent_id, |agent, now| agent.revoked_at = Some(now)).await?;
        unit.add_command(OutboxCommand::DropWebhooksOf { agent_id: agent_id.to_owned() });
        Ok(())
    }

    async fn rename(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        name: String,
    ) -> Result<(), StateError> {
        if name.is_empty() || name.chars().count() > NAME_CHARACTERS {
            let text = format!("an agent's name has 1 to {NAME_CHARACTERS} characters");
            return Err(StateError::Invalid(text));
        }
        let (mut agent, revision) = self.living_agent(unit, agent_id).await?;
        agent.name = Some(name);
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.agents, agent_id, &agent, expect).await
    }

    async fn rebind(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        person_key: &str,
    ) -> Result<(), StateError> {
        let (mut owner, revision) = self.owner(unit, owner_id).await?;
        // A person of test mode stays one.
        let key = match owner.person_key.strip_prefix(TEST) {
            Some(_) => format!("{TEST}{person_key}"),
            None => person_key.to_owned(),
        };
        if key == owner.person_key {
            return Ok(());
        }
        let person = PersonRecord { owner_id: owner_id.to_owned() };
        write(unit, &self.records.persons, &key, &person, Expectation::Absent).await?;
        unit.delete(&self.records.persons, &owner.person_key, Expectation::Any).await?;
        owner.person_key = key;
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await
    }

    async fn known_owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<Option<KnownOwner>, StateError> {
        let Some(document) = unit.get(&self.records.owners, owner_id).await? else {
            return Ok(None);
        };
        let owner: OwnerRecord = parse(&document)?;
        Ok(Some(KnownOwner {
            created_at: document.created_at,
            test_mode: owner.person_key.starts_with(TEST),
            agents: owner.agents.len(),
        }))
    }

    async fn agents(&self, unit: &mut Unit, owner_id: &str) -> Result<Vec<OwnedAgent>, StateError> {
        let (owner, _) = self.owner(unit, owner_id).await?;
        let ids: Vec<&str> = owner.agents.iter().map(String::as_str).collect();
        let documents = unit.get_many(&self.records.agents, &ids).await?;
        let view = |document: Document| {
            let agent: AgentRecord = parse(&document)?;
            Ok(OwnedAgent {
                agent_id: document.id,
                name: agent.name,
                created_at: document.created_at,
                claimed_at: agent.claimed_at.map(Timestamp::from_millis),
                last_call_at: agent.last_call_at.map(Timestamp::from_millis),
            })
        };
        documents.into_iter().flatten().map(view).collect()
    }

    /// A person's agents, for the person to choose among.
    pub async fn agents_to_end(&self, owner_id: &str) -> Result<Vec<OwnedAgent>, IdentityError> {
        Ok(self.agents(&mut records::unit(&self.store), owner_id).await?)
    }

    /// The ids of a person's agents; none if there is no such person.
    pub async fn agents_of(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<Vec<String>, StateError> {
        let owner = read::<OwnerRecord>(unit, &self.records.owners, owner_id).await?;
        Ok(owner.map_or_else(Vec::new, |(owner, _)| owner.agents))
    }

    /// Makes what a committed unit says of agents count at once on this node.
    pub fn forget(&self, agents: &[String]) {
        if !agents.is_empty() {
            self.look_again();
        }
    }

    /// The agents that a unit has written so far.
    pub fn written_agents(&self, unit: &Unit) -> Vec<String> {
        unit.written_ids(&self.records.agents)
    }

    async fn owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(OwnerRecord, u64), StateError> {
        let owner = read(unit, &self.records.owners, owner_id).await?;
        owner.ok_or(StateError::Conflict)
    }

    async fn living_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<(AgentRecord, u64), StateError> {
        let agent = read::<AgentRecord>(unit, &self.records.agents, agent_id).await?;
        agent.filter(|(agent, _)| agent.revoked_at.is_none()).ok_or(StateError::Conflict)
    }
}
