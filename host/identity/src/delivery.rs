//! The delivery rules of people, in the unit of work of the call that reads or changes them.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, OwnerRecord, read, write},
};
use portolan_store::{Expectation, OutboxCommand, StateError, TimerChange, TimerKey, Unit};
use portolan_vocabulary::{
    DeliveryRules, HELD_EVENTS, OwnerRules, RulesChange, Zone, new_request_id,
};
use std::sync::Arc;

/// The recipients of the events for an owner.
#[derive(Debug, Clone, Default)]
pub struct Recipients {
    /// The owner's agents.
    pub agents: Vec<String>,
    /// The owner's delivery rules, if there are any.
    pub rules: Option<Arc<OwnerRules>>,
    /// Whether the owner wants emails.
    pub has_email: bool,
}

impl Identity {
    /// Returns an owner's agents and delivery rules. An owner that does not exist in this mode has none.
    pub async fn find_recipients(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        test_mode: bool,
    ) -> Result<Recipients, StateError> {
        let owner = read::<OwnerRecord>(unit, &self.records.owners, owner_id).await?;
        let Some((owner, _)) = owner.filter(|(owner, _)| owner.is_of_test_mode() == test_mode)
        else {
            return Ok(Recipients::default());
        };
        if !owner.has_rules {
            let (agents, has_email) = (owner.agents, owner.has_email);
            return Ok(Recipients { agents, rules: None, has_email });
        }
        let (rules, _) = self.read_rules(unit, owner_id).await?;
        let rules = OwnerRules { owner_id: owner_id.to_owned(), test_mode, rules };
        let (agents, has_email) = (owner.agents, owner.has_email);
        Ok(Recipients { agents, rules: Some(Arc::new(rules)), has_email })
    }

    /// Returns the mode of an agent, and its owner if it has one; `None` if it is unknown. The read is not
    /// part of the call's unit.
    pub async fn find_mode_and_owner(
        &self,
        agent_id: &str,
    ) -> Result<Option<(bool, Option<String>)>, StateError> {
        let mut unit = self.unit();
        let agent = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        Ok(agent.map(|(agent, _)| (agent.test_mode, agent.owner_id)))
    }

    /// Returns the time zone that an owner's delivery rules name, if they name one.
    pub async fn find_zone(&self, owner_id: &str) -> Result<Option<Zone>, IdentityError> {
        let (rules, _) = self.read_rules(&mut self.unit(), owner_id).await?;
        Ok(rules.zone())
    }

    /// Returns the delivery rules of an owner, and the number of events that are held for them.
    pub(crate) async fn delivery_state(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(DeliveryRules, u64), StateError> {
        let (rules, _) = self.read_rules(unit, owner_id).await?;
        Ok((rules, self.store.held_count(owner_id).await?))
    }

    /// Changes the delivery rules of an owner, and applies them to the held events after the commit. Returns
    /// whether the rules are different now.
    pub(crate) async fn change_rules(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        change: RulesChange,
    ) -> Result<bool, StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        let (before, rules_revision) = self.read_rules(unit, owner_id).await?;
        let mut rules = before.clone();
        if !change.apply(&mut rules, unit.now()) {
            return Err(StateError::Limit("too many people and things are muted".to_owned()));
        }
        if rules == before {
            return Ok(false);
        }
        let expect = match rules_revision {
            0 => Expectation::Absent,
            revision => Expectation::Revision(revision),
        };
        write(unit, &self.records.rules, owner_id, &rules, expect).await?;
        let test_mode = owner.is_of_test_mode();
        if !owner.has_rules {
            owner.has_rules = true;
            let expect = Expectation::Revision(revision);
            write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        }
        unit.add_command(OutboxCommand::ReconsiderHeld { owner_id: owner_id.to_owned() });
        let (now, name) = (unit.now(), owner_id.to_owned());
        let key = TimerKey { capability: HELD_EVENTS.to_owned(), name, test_mode };
        let (setting, action) = (new_request_id(now).to_string(), String::new());
        let input = "{}".to_owned();
        unit.change_timer(key, TimerChange::Set { setting, at: now, action, input });
        Ok(true)
    }

    /// Returns the rules of an owner and their revision; the revision 0 if there are none.
    async fn read_rules(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(DeliveryRules, u64), StateError> {
        let rules = read::<DeliveryRules>(unit, &self.records.rules, owner_id).await?;
        Ok(rules.unwrap_or_default())
    }
}
