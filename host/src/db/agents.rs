//! Agents and the clients they authenticate with.

use crate::{
    db::{DbError, Store, signed},
    vocabulary::Timestamp,
};
use sqlx::Row as _;

/// A registered agent.
#[derive(Debug, Clone)]
pub struct AgentRecord {
    pub id: String,
    /// `anonymous` or `client`.
    pub identity_type: String,
    pub name: Option<String>,
    pub software_id: Option<String>,
    pub software_version: Option<String>,
    pub install_id: Option<String>,
    pub test_mode: bool,
    /// The person behind it, once claimed.
    pub owner_id: Option<String>,
    pub created_at: Timestamp,
}

/// The credentials of an install. Secrets are kept as SHA-256 hashes.
#[derive(Debug, Clone)]
pub struct ClientRecord {
    pub id: String,
    pub agent_id: String,
    pub secret_hash: Vec<u8>,
    pub key_hash: Vec<u8>,
}

impl Store {
    /// Adds an agent with its first client, both or neither.
    pub async fn add_agent(
        &self,
        agent: &AgentRecord,
        client: &ClientRecord,
    ) -> Result<(), DbError> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(
            "INSERT INTO agents (id, identity_type, name, software_id, software_version, install_id, test_mode, owner_id, created_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&agent.id)
        .bind(&agent.identity_type)
        .bind(&agent.name)
        .bind(&agent.software_id)
        .bind(&agent.software_version)
        .bind(&agent.install_id)
        .bind(agent.test_mode)
        .bind(&agent.owner_id)
        .bind(signed(agent.created_at.as_millis()))
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO clients (id, agent_id, secret_hash, key_hash, created_at) VALUES (?, ?, ?, ?, ?)",
        )
        .bind(&client.id)
        .bind(&client.agent_id)
        .bind(&client.secret_hash)
        .bind(&client.key_hash)
        .bind(signed(agent.created_at.as_millis()))
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    pub async fn lookup_client(&self, id: &str) -> Result<Option<ClientRecord>, DbError> {
        let row =
            sqlx::query("SELECT id, agent_id, secret_hash, key_hash FROM clients WHERE id = ?")
                .bind(id)
                .fetch_optional(&self.readers)
                .await?;
        let record = row.map(|row| -> Result<_, sqlx::Error> {
            Ok(ClientRecord {
                id: row.try_get(0)?,
                agent_id: row.try_get(1)?,
                secret_hash: row.try_get(2)?,
                key_hash: row.try_get(3)?,
            })
        });
        Ok(record.transpose()?)
    }

    /// What the permission checks need of an agent: whether it is there, its owner, its mode.
    pub async fn lookup_agent_standing(
        &self,
        id: &str,
    ) -> Result<Option<(Option<String>, bool)>, DbError> {
        let row = sqlx::query("SELECT owner_id, test_mode FROM agents WHERE id = ?")
            .bind(id)
            .fetch_optional(&self.readers)
            .await?;
        let standing =
            row.map(|row| -> Result<_, sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) });
        Ok(standing.transpose()?)
    }
}
