//! The sessions of MCP clients: the agent of each and what its client said at the start, so that sessions survive
//! restarts and move between nodes.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{commit, commit_or_conflict, read, write},
};
use portolan_store::{Expectation, StateError};
use serde::{Deserialize, Serialize};

/// How long a session is kept after its last use.
const LIFE_MS: u64 = 24 * 3600 * 1000;
/// A use prolongs a session that was prolonged at least this long ago.
const USE_INTERVAL_MS: u64 = 3_600_000;

/// A session that is kept.
#[derive(Debug)]
pub struct McpSession {
    pub agent_id: String,
    /// The parameters of the `initialize` request, as JSON.
    pub parameters: String,
}

/// A session as it is stored, keyed by its id.
#[derive(Debug, Serialize, Deserialize)]
struct McpSessionRecord {
    agent_id: String,
    parameters: String,
    expires_at: u64,
}

impl Identity {
    /// Keeps a new session until a day after its last use.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be written.
    pub async fn keep_mcp_session(
        &self,
        id: &str,
        session: McpSession,
    ) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let McpSession { agent_id, parameters } = session;
        let expires_at = unit.now().as_millis() + LIFE_MS;
        let record = McpSessionRecord { agent_id, parameters, expires_at };
        write(&mut unit, &self.records.mcp_sessions, id, &record, Expectation::Absent).await?;
        commit_or_conflict(unit).await
    }

    /// Finds a session that is kept, and prolongs it; `None` if there is none of this id.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn find_mcp_session(&self, id: &str) -> Result<Option<McpSession>, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now().as_millis();
        let found = read::<McpSessionRecord>(&mut unit, &self.records.mcp_sessions, id).await;
        let found = match found {
            // The text cannot be the id of a record.
            Err(StateError::Invalid(_)) => None,
            other => other?,
        };
        let Some((mut record, revision)) = found.filter(|(record, _)| record.expires_at > now)
        else {
            return Ok(None);
        };
        if record.expires_at + USE_INTERVAL_MS <= now + LIFE_MS {
            record.expires_at = now + LIFE_MS;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.mcp_sessions, id, &record, expect).await?;
            // After a conflict, another node has prolonged or ended it.
            commit(unit).await?;
        }
        let McpSessionRecord { agent_id, parameters, .. } = record;
        Ok(Some(McpSession { agent_id, parameters }))
    }

    /// Ends a session.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be written.
    pub async fn end_mcp_session(&self, id: &str) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        unit.delete(&self.records.mcp_sessions, id, Expectation::Any).await?;
        commit(unit).await?;
        Ok(())
    }
}
