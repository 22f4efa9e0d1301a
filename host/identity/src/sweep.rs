//! The removal of records that have expired.

use crate::{
    auth_action::AuthAction,
    email_records::EmailRecord,
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, EXPIRES_AT, OwnerRecord, commit, read},
};
use portolan_store::{
    Collection, Document, Expectation, StateError, TimerChange, TimerKey, Unit,
    query::{Query, Request},
};
use portolan_vocabulary::{HOST, PEOPLE_OF, PeopleRequest, Timestamp};
use serde_json::json;
use std::time::Duration;

/// The maximum number of records that one unit removes.
const BATCH: u32 = 100;

/// The time between the erasures of two people, because each searches all documents.
const ERASURE_INTERVAL: Duration = Duration::from_secs(60);

impl Identity {
    /// Removes the records that have expired, and replaces the key that signs tokens when its time is over.
    pub async fn sweep(&self) -> Result<(), IdentityError> {
        if let Some(age_ms) = self.settings.key_age_ms()
            && let Some(key_id) = self.keys.rotate_after(age_ms).await?
        {
            tracing::info!(key_id, "a new key signs tokens from now on");
            self.write_audit_row(self.audit_row(AuthAction::KeyRotated)).await?;
        }
        let records = &self.records;
        let expiring = [
            &records.clients,
            &records.codes,
            &records.grants,
            &records.sessions,
            &records.mcp_sessions,
            &records.revoked,
            &records.ceremonies,
            &records.device_codes,
            &records.kept_suspensions,
            &records.email_links,
        ];
        for collection in expiring {
            self.remove_expired(collection).await?;
        }
        self.remove_expired_addresses().await?;
        self.remove_expired_agents().await
    }

    /// Removes the expired records of a collection.
    async fn remove_expired(&self, collection: &Collection) -> Result<(), IdentityError> {
        loop {
            let mut unit = self.unit();
            let found = find_expired(&mut unit, collection).await?;
            for document in &found {
                unit.delete(collection, &document.id, Expectation::Any).await?;
            }
            // A conflict means that the expiry of a record was extended; the next round, or the
            // next sweep, removes the others.
            commit(unit).await?;
            if found.len() < BATCH as usize {
                return Ok(());
            }
        }
    }

    /// Removes email addresses that nobody has confirmed in time or that were refused long ago. The rest of the
    /// record stays.
    async fn remove_expired_addresses(&self) -> Result<(), IdentityError> {
        let emails = &self.records.emails;
        loop {
            let mut unit = self.unit();
            let found = find_expired(&mut unit, emails).await?;
            for document in &found {
                let Some((mut record, revision)) =
                    read::<EmailRecord>(&mut unit, emails, &document.id).await?
                else {
                    continue;
                };
                record.remove_expired(unit.now().as_millis());
                let expect = Expectation::Revision(revision);
                self.write_email(&mut unit, &document.id, record, expect).await?;
            }
            commit(unit).await?;
            if found.len() < BATCH as usize {
                return Ok(());
            }
        }
    }

    /// Removes the expired agents with the clients that were registered with them. Those of test mode that a
    /// person has claimed are revoked; a person without another agent is erased.
    async fn remove_expired_agents(&self) -> Result<(), IdentityError> {
        let mut erasures = 0;
        loop {
            let mut unit = self.unit();
            let found = find_expired(&mut unit, &self.records.agents).await?;
            let mut claimed = Vec::new();
            for document in &found {
                // A record that cannot be read is removed like one without a person.
                let agent: Option<AgentRecord> = serde_json::from_str(&document.body).ok();
                if agent.as_ref().is_some_and(is_of_test_person) {
                    claimed.push(&document.id);
                    continue;
                }
                let client_id = agent.and_then(|agent| agent.client_id);
                self.remove_agent(&mut unit, &document.id, client_id).await?;
            }
            let mut has_removed = commit(unit).await? && claimed.len() < found.len();
            for agent_id in claimed {
                let end = self.end_test_agent(agent_id, erasures).await?;
                has_removed |= end != TestAgentEnd::Kept;
                erasures += u32::from(end == TestAgentEnd::PersonEnded);
            }
            if found.len() < BATCH as usize || !has_removed {
                return Ok(());
            }
        }
    }

    /// Removes an agent, and the client that was registered with it.
    async fn remove_agent(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        client_id: Option<String>,
    ) -> Result<(), StateError> {
        unit.delete(&self.records.agents, agent_id, Expectation::Any).await?;
        if let Some(client_id) = client_id {
            unit.delete(&self.records.clients, &client_id, Expectation::Any).await?;
        }
        Ok(())
    }

    /// Revokes an expired agent of a person of test mode. If the person has no other agent, also not that of their
    /// page, requests their erasure, after the `earlier` ones of this sweep.
    async fn end_test_agent(
        &self,
        agent_id: &str,
        earlier: u32,
    ) -> Result<TestAgentEnd, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now();
        let agent = read::<AgentRecord>(&mut unit, &self.records.agents, agent_id).await?;
        let agent = agent.map(|(agent, _)| agent).filter(|agent| agent.has_expired(now));
        let Some(AgentRecord { owner_id: Some(owner_id), client_id, .. }) =
            agent.filter(is_of_test_person)
        else {
            // It has called meanwhile, or another node has ended it.
            return Ok(TestAgentEnd::Kept);
        };
        let mut end = TestAgentEnd::Revoked;
        match read::<OwnerRecord>(&mut unit, &self.records.owners, &owner_id).await? {
            None => self.remove_agent(&mut unit, agent_id, client_id).await?,
            Some((owner, _)) => {
                // A person can use the account page without having any agent.
                let uses_page = self.uses_page(&mut unit, &owner_id).await?;
                self.revoke_agent(&mut unit, agent_id).await?;
                if !uses_page && owner.agents.iter().all(|id| id == agent_id) {
                    Self::request_erasure(
                        &mut unit,
                        &owner_id,
                        now.plus(ERASURE_INTERVAL * earlier),
                    );
                    // From now on, another person gets an account of their own with the same
                    // number.
                    unit.delete(&self.records.persons, &owner.person_key, Expectation::Any).await?;
                    end = TestAgentEnd::PersonEnded;
                }
            }
        }
        Ok(if commit(unit).await? { end } else { TestAgentEnd::Kept })
    }

    /// Adds the erasure of a person of test mode to a unit.
    fn request_erasure(unit: &mut Unit, owner_id: &str, at: Timestamp) {
        let request = PeopleRequest::Erase { owner_id: owner_id.to_owned() };
        let (name, capability) = (request.name(), format!("{PEOPLE_OF}{HOST}"));
        let setting = format!("unused/{owner_id}");
        let (action, input) = (String::new(), json!(request).to_string());
        let key = TimerKey { capability, name, test_mode: true };
        unit.change_timer(key, TimerChange::Set { setting, at, action, input });
    }
}

/// The outcome of the sweep for an expired agent of a person of test mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestAgentEnd {
    /// It is no longer expired, or a conflict prevented the change.
    Kept,
    Revoked,
    /// It was the person's last agent.
    PersonEnded,
}

fn is_of_test_person(agent: &AgentRecord) -> bool {
    agent.test_mode && agent.owner_id.is_some()
}

/// Returns at most `BATCH` expired records.
async fn find_expired(
    unit: &mut Unit,
    collection: &Collection,
) -> Result<Vec<Document>, IdentityError> {
    let filter = format!("{{\"{EXPIRES_AT}\":{{\"lte\":{}}}}}", unit.now().as_millis());
    let request = Request {
        filter: Some(&filter),
        text: None,
        near: None,
        within: None,
        order: &[],
        limit: BATCH,
        unchecked: false,
    };
    let query = Query::new(collection.shape(), request)
        .map_err(|error| StateError::Invalid(error.to_string()))?;
    let hits = unit.find(collection, &query, None).await?.hits;
    Ok(hits.into_iter().map(|hit| hit.document).collect())
}
