//! The binding of agents to owners, in the unit of work of the call that changes it.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{
        AgentRecord, ApprovalRecord, OwnerRecord, PersonRecord, TEST_PREFIX, commit_or_conflict,
        parse, read, unused_expiry, write,
    },
    secret,
    sessions::Session,
};
use portolan_sandbox::{People, StateFuture};
use portolan_store::{Document, Expectation, OutboxCommand, StateError, Unit};
use portolan_vocabulary::{
    ApprovalPolicy, Claimed, DeliveryRules, KnownOwner, OwnedAgent, RulesChange, Suspension,
    Timestamp, new_identifier,
};
use serde_json::json;
use std::sync::Arc;

/// The maximum number of agents of a person.
const AGENTS: usize = 10;
/// The maximum number of agents of a person in test mode, where one phone number serves many testers.
const TEST_AGENTS: usize = 100;
const NAME_CHARACTERS: usize = 100;
const PERSON_KEY_BYTES: usize = 100;
/// The time in which an approved agent is claimed.
const APPROVAL_MS: u64 = 60_000;
/// The text of the error for an agent that needs an approval; part of the contract.
const APPROVAL_NEEDED: &str = "passkey required";

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
        Box::pin(
            async move { self.unbind(unit, &agent_id, |agent, _| agent.claimed_at = None).await },
        )
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
        Box::pin(async move { self.find_owner(unit, &owner_id).await })
    }

    fn agents<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, Vec<OwnedAgent>> {
        Box::pin(async move { self.list_agents(unit, &owner_id).await })
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
        Box::pin(async move { self.revoke_agent(unit, &agent_id).await })
    }

    fn sign_out<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> StateFuture<'a, ()> {
        Box::pin(async move { self.sign_out_owner(unit, &owner_id).await })
    }

    fn suspend<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        suspension: Suspension,
    ) -> StateFuture<'a, ()> {
        Box::pin(async move { self.suspend_owner(unit, &owner_id, suspension).await })
    }

    fn reinstate<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> StateFuture<'a, bool> {
        Box::pin(async move { self.reinstate_owner(unit, &owner_id).await })
    }

    fn delivery_state<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, (DeliveryRules, u64)> {
        Box::pin(async move { self.delivery_state(unit, &owner_id).await })
    }

    fn change_delivery_rules<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        change: RulesChange,
    ) -> StateFuture<'a, bool> {
        Box::pin(async move { self.change_rules(unit, &owner_id, change).await })
    }

    fn set_approval_policy<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        policy: Option<ApprovalPolicy>,
        may_loosen: bool,
    ) -> StateFuture<'a, ()> {
        Box::pin(async move { self.set_policy(unit, &owner_id, policy, may_loosen).await })
    }
}

impl Identity {
    /// Binds an agent to the owner with this key, and creates the owner if there is none. An agent
    /// of a sign-in is not bound; an agent of another owner is a conflict.
    async fn claim(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        person_key: &str,
        random: u128,
    ) -> Result<Claimed, StateError> {
        if person_key.is_empty() || person_key.len() > PERSON_KEY_BYTES {
            let text = format!("a person's key must have 1 to {PERSON_KEY_BYTES} bytes");
            return Err(StateError::Invalid(text));
        }
        let (agent, revision) = self.load_unrevoked_agent(unit, agent_id).await?;
        let key = match agent.test_mode {
            true => format!("{TEST_PREFIX}{person_key}"),
            false => person_key.to_owned(),
        };
        let known = read::<PersonRecord>(unit, &self.records.persons, &key).await?;
        let linked_existing = known.is_some();
        let owner_id = match known {
            Some((person, _)) => person.owner_id,
            None => {
                let owner_id = new_identifier("own", unit.now(), random);
                let person = PersonRecord { owner_id: owner_id.clone() };
                let owner = OwnerRecord {
                    person_key: key.clone(),
                    agents: Vec::new(),
                    sessions: Vec::new(),
                    sign_outs: 0,
                    suspension: None,
                    kept_suspension_until: self.take_kept_suspension(unit, &key).await?,
                    is_erasing: false,
                    has_rules: false,
                    has_email: false,
                    policy: None,
                    passkeys: Vec::new(),
                };
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
        self.ensure_approved(unit, &agent, &owner_id).await?;
        let expect = Expectation::Revision(revision);
        self.bind(unit, (agent_id, expect), agent, &owner_id).await?;
        Ok(Claimed { owner_id, linked_existing })
    }

    /// Refuses an agent that a person with passkeys has not approved: who has only their phone is not enough.
    async fn ensure_approved(
        &self,
        unit: &mut Unit,
        agent: &AgentRecord,
        owner_id: &str,
    ) -> Result<(), StateError> {
        let (owner, _) = self.load_owner(unit, owner_id).await?;
        let now = unit.now().as_millis();
        let is_approved = agent
            .approval
            .as_ref()
            .is_some_and(|given| secret::matches(owner_id, &given.owner) && given.expires_at > now);
        match is_approved || !self.needs_passkey(&owner) {
            true => Ok(()),
            false => Err(StateError::Invalid(APPROVAL_NEEDED.to_owned())),
        }
    }

    /// Records that a person who is signed in approves the claim of an agent, for the next minute.
    pub async fn record_approval(
        &self,
        session: &Session,
        agent_id: &str,
    ) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let (mut agent, revision) = self.load_unrevoked_agent(&mut unit, agent_id).await?;
        agent.approval = Some(ApprovalRecord {
            owner: secret::hash(&session.owner_id).hex(),
            expires_at: unit.now().as_millis() + APPROVAL_MS,
        });
        let expect = Expectation::Revision(revision);
        write(&mut unit, &self.records.agents, agent_id, &agent, expect).await?;
        commit_or_conflict(unit).await
    }

    /// Binds an agent to an owner who has decided so in a browser, and sets a timer for the action `adopted` of
    /// the capability that verifies phones, which publishes the event of the claim.
    pub(crate) async fn adopt_agent(
        &self,
        unit: &mut Unit,
        (agent_id, expect): (&str, Expectation),
        agent: AgentRecord,
        owner_id: &str,
    ) -> Result<(), StateError> {
        let test_mode = agent.test_mode;
        let before = self.bind(unit, (agent_id, expect), agent, owner_id).await?;
        let input =
            json!({ "agent_id": agent_id, "owner_id": owner_id, "linked_existing": before > 0 });
        // An agent can be unbound and then bound again.
        let time = unit.now().as_millis().to_string();
        self.run_phone_verification(unit, "adopted", (agent_id, &time), test_mode, &input);
        Ok(())
    }

    /// Binds an agent to an owner. Returns the number of the owner's other agents. Refuses more
    /// agents than a person can have.
    async fn bind(
        &self,
        unit: &mut Unit,
        (agent_id, expect): (&str, Expectation),
        mut agent: AgentRecord,
        owner_id: &str,
    ) -> Result<usize, StateError> {
        let (mut owner, mut revision) = self.load_owner(unit, owner_id).await?;
        if !agent.test_mode && owner.agents.len() >= AGENTS {
            return Err(StateError::Limit(format!("a person can have at most {AGENTS} agents")));
        }
        // In test mode, many testers share a few phone numbers, so the oldest agent is unbound to make room
        // for the newest.
        if agent.test_mode
            && let Some(first) = owner.agents.iter().rev().nth(TEST_AGENTS - 1).cloned()
        {
            self.unbind(unit, &first, |agent, _| agent.claimed_at = None).await?;
            (owner, revision) = self.load_owner(unit, owner_id).await?;
        }
        let before = owner.agents.len();
        owner.agents.push(agent_id.to_owned());
        let unchanged = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, unchanged).await?;
        agent.owner_id = Some(owner_id.to_owned());
        agent.former_owner_id = None;
        agent.approval = None;
        agent.claimed_at = Some(unit.now().as_millis());
        agent.expires_at = agent.expiry(unit.now());
        write(unit, &self.records.agents, agent_id, &agent, expect).await?;
        Ok(before)
    }

    /// Unbinds an agent from its owner, if it has one, and applies a change to its record. The
    /// change gets the time in milliseconds. Its webhooks end and its inbox is emptied, because another person
    /// may claim it.
    pub(crate) async fn unbind(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        change: impl FnOnce(&mut AgentRecord, u64),
    ) -> Result<(), StateError> {
        let (mut agent, revision) = self.load_unrevoked_agent(unit, agent_id).await?;
        if let Some(owner_id) = agent.owner_id.take() {
            let (mut owner, revision) = self.load_owner(unit, &owner_id).await?;
            owner.agents.retain(|id| id != agent_id);
            let expect = Expectation::Revision(revision);
            write(unit, &self.records.owners, &owner_id, &owner, expect).await?;
            agent.expires_at = Some(unused_expiry(unit.now()));
            agent.former_owner_id = Some(owner_id);
        }
        change(&mut agent, unit.now().as_millis());
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.agents, agent_id, &agent, expect).await?;
        let (agent_id, before) = (agent_id.to_owned(), unit.now());
        unit.add_command(OutboxCommand::DropWebhooksOf { agent_id: agent_id.clone() });
        unit.add_command(OutboxCommand::EmptyInboxOf { agent_id, before });
        Ok(())
    }

    /// Revokes an agent for good.
    pub(crate) async fn revoke_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<(), StateError> {
        self.unbind(unit, agent_id, |agent, now| agent.revoked_at = Some(now)).await
    }

    /// Changes the name of an agent.
    async fn rename(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        name: String,
    ) -> Result<(), StateError> {
        if name.is_empty() || name.chars().count() > NAME_CHARACTERS {
            let text = format!("an agent's name must have 1 to {NAME_CHARACTERS} characters");
            return Err(StateError::Invalid(text));
        }
        let (mut agent, revision) = self.load_unrevoked_agent(unit, agent_id).await?;
        agent.name = Some(name);
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.agents, agent_id, &agent, expect).await
    }

    /// Gives an owner another key, when their phone number changes. A suspension that is kept for the new number
    /// holds for them.
    async fn rebind(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        person_key: &str,
    ) -> Result<(), StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        // The new key belongs to the same mode.
        let key = match owner.person_key.strip_prefix(TEST_PREFIX) {
            Some(_) => format!("{TEST_PREFIX}{person_key}"),
            None => person_key.to_owned(),
        };
        if key == owner.person_key {
            return Ok(());
        }
        let person = PersonRecord { owner_id: owner_id.to_owned() };
        write(unit, &self.records.persons, &key, &person, Expectation::Absent).await?;
        unit.delete(&self.records.persons, &owner.person_key, Expectation::Any).await?;
        owner.keep_suspension_until(self.take_kept_suspension(unit, &key).await?);
        owner.person_key = key;
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await
    }

    /// Returns what components may know about an owner, if there is such an owner.
    async fn find_owner(
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
            test_mode: owner.is_of_test_mode(),
            agents: owner.agents.len(),
        }))
    }

    /// Lists the agents of an owner.
    async fn list_agents(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<Vec<OwnedAgent>, StateError> {
        let (owner, _) = self.load_owner(unit, owner_id).await?;
        let ids: Vec<&str> = owner.agents.iter().map(String::as_str).collect();
        let documents = unit.get_many(&self.records.agents, &ids).await?;
        let view = |document: Document| {
            let agent: AgentRecord = parse(&document)?;
            let (client_id, scope) = match agent.consent {
                Some(consent) => (Some(consent.client_id), Some(consent.scope)),
                None => (agent.client_id, None),
            };
            Ok(OwnedAgent {
                agent_id: document.id,
                name: agent.name,
                client_id,
                scope,
                created_at: document.created_at,
                claimed_at: agent.claimed_at.map(Timestamp::from_millis),
                last_call_at: agent.last_call_at.map(Timestamp::from_millis),
            })
        };
        documents.into_iter().flatten().map(view).collect()
    }

    /// Lists the agents of an owner, for the person to choose among.
    pub async fn list_agents_by_owner(
        &self,
        owner_id: &str,
    ) -> Result<Vec<OwnedAgent>, IdentityError> {
        Ok(self.list_agents(&mut self.unit(), owner_id).await?)
    }

    /// Returns whether a unit has written agents or owners. After its commit, the cached standings are not
    /// valid.
    pub fn changes_standings(&self, unit: &Unit) -> bool {
        let written = [&self.records.agents, &self.records.owners].map(|all| unit.written_ids(all));
        written.iter().any(|ids| !ids.is_empty())
    }

    /// Loads the record of an owner. A missing one is a conflict.
    pub(crate) async fn load_owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(OwnerRecord, u64), StateError> {
        let owner = read(unit, &self.records.owners, owner_id).await?;
        owner.ok_or(StateError::Conflict)
    }

    /// Loads an agent. A missing or revoked one is a conflict.
    async fn load_unrevoked_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
    ) -> Result<(AgentRecord, u64), StateError> {
        let agent = read::<AgentRecord>(unit, &self.records.agents, agent_id).await?;
        agent.filter(|(agent, _)| agent.revoked_at.is_none()).ok_or(StateError::Conflict)
    }
}
