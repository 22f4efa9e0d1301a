//! The removal of records that have expired.

use crate::{
    auth_action::AuthAction,
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, EXPIRES_AT, commit},
};
use portolan_store::{
    Collection, Expectation, StateError,
    query::{Query, Request},
};

/// The maximum number of records that one unit removes.
const BATCH: u32 = 100;

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
            self.remove_expired(collection, |_, _| {}).await?;
        }
        // The client that was registered with an agent is of no use without the agent.
        let mut clients = Vec::new();
        self.remove_expired(&records.agents, |_, agent| clients.extend(client_of(agent))).await?;
        for clients in clients.chunks(BATCH as usize) {
            let mut unit = self.unit();
            for client in clients {
                unit.delete(&records.clients, client, Expectation::Any).await?;
            }
            commit(unit).await?;
        }
        Ok(())
    }

    /// Removes the expired records of a collection. Calls `removed` with the id and the body of each, before
    /// the commit that removes it.
    async fn remove_expired(
        &self,
        collection: &Collection,
        mut removed: impl FnMut(&str, &str),
    ) -> Result<(), IdentityError> {
        loop {
            let mut unit = self.unit();
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
            let found = unit.find(collection, &query, None).await?.hits;
            for hit in &found {
                unit.delete(collection, &hit.document.id, Expectation::Any).await?;
            }
            // A conflict means that the expiry of a record was extended; the next round, or the
            // next sweep, removes the others.
            if commit(unit).await? {
                found.iter().for_each(|hit| removed(&hit.document.id, &hit.document.body));
            }
            if found.len() < BATCH as usize {
                return Ok(());
            }
        }
    }
}

fn client_of(agent: &str) -> Option<String> {
    serde_json::from_str::<AgentRecord>(agent).ok()?.client_id
}
