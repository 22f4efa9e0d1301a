//! What a component with the operator's grant may do with identities and text messages: part of its
//! call's unit of work, as everything it does.

use crate::{
    contract::{identity, sms, types::HostError},
    state::CallState,
    work::{Answer, People, Reply},
};
use portolan_store::{TimerChange, TimerKey, Unit};
use portolan_vocabulary::{
    Caller, KnownOwner, OUTGOING_SMS, OwnedAgent, Timestamp, new_identifier,
};
use rand::RngExt as _;
use serde_json::json;
use std::sync::Arc;

/// What one message may hold; a provider cuts it into parts of 153.
const TEXT_CHARACTERS: usize = 1_000;

impl CallState {
    /// The agent that calls.
    fn agent(&self) -> std::result::Result<Arc<str>, HostError> {
        match &self.context.caller {
            Caller::Agent(agent) => Ok(Arc::clone(&agent.agent_id)),
            Caller::System { .. } => Err(HostError::Invalid("no agent makes this call".to_owned())),
        }
    }

    fn send_sms(&mut self, to: &str, text: String) -> std::result::Result<String, HostError> {
        let digits = to.strip_prefix('+').filter(|digits| {
            (7..=15).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit())
        });
        if digits.is_none() {
            return Err(HostError::Invalid("`to` is not a number in E.164".to_owned()));
        }
        if text.is_empty() || text.chars().count() > TEXT_CHARACTERS {
            let text = format!("a text message has 1 to {TEXT_CHARACTERS} characters");
            return Err(HostError::Invalid(text));
        }
        if matches!(&self.context.caller, Caller::Agent(agent) if agent.test_mode) {
            return Err(HostError::Invalid("nothing is sent for an agent of test mode".to_owned()));
        }
        let address = self.context.agent().and_then(|agent| agent.address);
        if !self.work()?.surroundings.may_send(address) {
            let text = "too many text messages from this caller's address";
            return Err(HostError::Limit(text.to_owned()));
        }
        let now = self.context.now;
        let name = new_identifier("sms", now, self.chance.generator().random());
        let key =
            TimerKey { capability: OUTGOING_SMS.to_owned(), name: name.clone(), test_mode: false };
        let input = json!({ "id": name, "to": to, "text": text }).to_string();
        let set =
            TimerChange::Set { setting: name.clone(), at: now, action: "send".to_owned(), input };
        self.changing()?.unit.change_timer(key, set);
        Ok(name)
    }
}

impl sms::Host for CallState {
    async fn send(&mut self, to: String, text: String) -> Reply<String> {
        Ok(self.send_sms(&to, text))
    }
}

impl CallState {
    /// Asks about the call's own unit.
    async fn ask<T>(
        &mut self,
        question: impl for<'a> FnOnce(&'a dyn People, &'a mut Unit) -> Answer<'a, T>,
    ) -> std::result::Result<T, HostError> {
        let work = self.work()?;
        let surroundings = Arc::clone(&work.surroundings);
        let nobody = || HostError::Unavailable("this host knows no people".to_owned());
        let people = surroundings.people().ok_or_else(nobody)?;
        let answer = question(people, &mut work.unit).await;
        answer.map_err(|error| self.refusal(error))
    }

    /// The same, by an action that may change something.
    async fn change<T>(
        &mut self,
        question: impl for<'a> FnOnce(&'a dyn People, &'a mut Unit) -> Answer<'a, T>,
    ) -> std::result::Result<T, HostError> {
        self.changing()?;
        self.ask(question).await
    }
}

impl identity::Host for CallState {
    async fn claim(&mut self, person_key: String) -> Reply<identity::Claimed> {
        let agent = match self.agent() {
            Ok(agent) => agent,
            Err(error) => return Ok(Err(error)),
        };
        let random = self.chance.generator().random();
        let claimed =
            self.change(move |people, unit| people.claim(unit, agent, person_key, random));
        Ok(claimed.await.map(|it| identity::Claimed {
            owner_id: it.owner_id,
            linked_existing: it.linked_existing,
        }))
    }

    async fn unclaim(&mut self) -> Reply<()> {
        match self.agent() {
            Ok(agent) => Ok(self.change(move |people, unit| people.unclaim(unit, agent)).await),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn rebind(&mut self, owner_id: String, person_key: String) -> Reply<()> {
        Ok(self.change(move |people, unit| people.rebind(unit, owner_id, person_key)).await)
    }

    async fn owner(&mut self, owner_id: String) -> Reply<Option<identity::Person>> {
        let owner = self.ask(move |people, unit| people.owner(unit, owner_id)).await;
        let view = |owner: KnownOwner| identity::Person {
            created_at: owner.created_at.as_millis(),
            test_mode: owner.test_mode,
            agents: u32::try_from(owner.agents).unwrap_or(u32::MAX),
        };
        Ok(owner.map(|owner| owner.map(view)))
    }

    async fn agents(&mut self, owner_id: String) -> Reply<Vec<identity::Agent>> {
        let agents = self.ask(move |people, unit| people.agents(unit, owner_id)).await;
        let agent = |agent: OwnedAgent| identity::Agent {
            agent_id: agent.agent_id,
            name: agent.name,
            created_at: agent.created_at.as_millis(),
            claimed_at: agent.claimed_at.map(Timestamp::as_millis),
        };
        Ok(agents.map(|agents| agents.into_iter().map(agent).collect()))
    }

    async fn rename(&mut self, agent_id: String, name: String) -> Reply<()> {
        let agent = Arc::from(agent_id);
        Ok(self.change(move |people, unit| people.rename(unit, agent, name)).await)
    }

    async fn revoke(&mut self, agent_id: String) -> Reply<()> {
        let agent = Arc::from(agent_id);
        Ok(self.change(move |people, unit| people.revoke(unit, agent)).await)
    }
}
