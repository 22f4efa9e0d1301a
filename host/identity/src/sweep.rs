//! The removal of records that have expired.

use crate::{
    auth_action::AuthAction,
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, EXPIRES_AT, commit, parse},
};
use portolan_store::{
    Collection, Document, Expectation, StateError, TimerChange, TimerKey, Unit,
    query::{Query, Request},
};
use portolan_vocabulary::{HOST, PEOPLE_OF, PeopleRequest};
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
            &records.revoked,
            &records.ceremonies,
        ];
        for collection in expiring {
            self.remove_expired(collection).await?;
        }
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

    /// Removes the expired agents with the clients that were registered with them. Those of test mode that a
    /// person has claimed are revoked; a person without another agent is erased.
    async fn remove_expired_agents(&self) -> Result<(), IdentityError> {
        let mut erasures = 0;
        loop {
            let mut unit = self.unit();
            let found = find_expired(&mut unit, &self.records.agents).await?;
            let mut claimed = Vec::new();
            for document in &found {
                let agent: AgentRecord = parse(document)?;
                if let Some(owner_id) = agent.owner_id.filter(|_| agent.test_mode) {
                    claimed.push((&document.id, owner_id));
                    continue;
                }
                unit.delete(&self.records.agents, &document.id, Expectation::Any).await?;
                if let Some(client_id) = agent.client_id {
                    unit.delete(&self.records.clients, &client_id, Expectation::Any).await?;
                }
            }
            commit(unit).await?;
            for (agent_id, owner_id) in claimed {
                erasures += u32::from(self.end_test_agent(agent_id, &owner_id, erasures).await?);
            }
            if found.len() < BATCH as usize {
                return Ok(());
            }
        }
    }

    /// Revokes an expired agent of test mode. If the person has no other agent, requests their erasure, after
    /// the `earlier` ones of this sweep, and returns `true`.
    async fn end_test_agent(
        &self,
        agent_id: &str,
        owner_id: &str,
        earlier: u32,
    ) -> Result<bool, IdentityError> {
        let mut unit = self.unit();
        self.revoke_agent(&mut unit, agent_id).await?;
        let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
        let is_unused = owner.agents.is_empty();
        if is_unused {
            // From now on, the same number belongs to somebody else.
            unit.delete(&self.records.persons, &owner.person_key, Expectation::Any).await?;
            let request = PeopleRequest::Erase { owner_id: owner_id.to_owned() };
            let key = TimerKey {
                capability: format!("{PEOPLE_OF}{HOST}"),
                name: request.name(),
                test_mode: true,
            };
            let erase = TimerChange::Set {
                setting: format!("unused/{agent_id}"),
                at: unit.now().plus(ERASURE_INTERVAL * earlier),
                action: String::new(),
                input: json!(request).to_string(),
            };
            unit.change_timer(key, erase);
        }
        Ok(commit(unit).await? && is_unused)
    }
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
