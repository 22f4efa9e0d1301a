//! Agents and the clients they authenticate with.

use crate::{
    db::{DbError, Store, read, signed, transact},
    vocabulary::Timestamp,
};

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
        transact!(self, |transaction| {
            sqlx::query(
                "INSERT INTO agents (id, identity_type, name, software_id, software_version, install_id, test_mode, owner_id, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
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
                "INSERT INTO clients (id, agent_id, secret_hash, key_hash, created_at) VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(&client.id)
            .bind(&client.agent_id)
            .bind(&client.secret_hash)
            .bind(&client.key_hash)
            .bind(signed(agent.created_at.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }

    pub async fn lookup_client(&self, id: &str) -> Result<Option<ClientRecord>, DbError> {
        let row: Option<(String, String, Vec<u8>, Vec<u8>)> = read!(self, |pool| {
            sqlx::query_as("SELECT id, agent_id, secret_hash, key_hash FROM clients WHERE id = $1")
                .bind(id)
                .fetch_optional(pool)
                .await?
        });
        Ok(row.map(|(id, agent_id, secret_hash, key_hash)| ClientRecord {
            id,
            agent_id,
            secret_hash,
            key_hash,
        }))
    }

    /// What the permission checks need of an agent: whether it is there, its owner, its mode.
    pub async fn lookup_agent_standing(
        &self,
        id: &str,
    ) -> Result<Option<(Option<String>, bool)>, DbError> {
        Ok(read!(self, |pool| {
            sqlx::query_as("SELECT owner_id, test_mode FROM agents WHERE id = $1")
                .bind(id)
                .fetch_optional(pool)
                .await?
        }))
    }
}
