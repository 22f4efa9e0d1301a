//! What each node of a PostgreSQL serves. A node that is not seen for an hour is forgotten. SQLite has one node, and no
//! such records.

use crate::{
    connection::{Backend, read, transact},
    error::DbError,
    store::Store,
};
use sqlx::AssertSqlSafe;

/// The server's time, in milliseconds since the Unix epoch.
const NOW: &str = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";
/// How long a node counts that is not seen any more, in milliseconds. A restart or a repair takes less.
const KEPT_MS: u64 = 3600 * 1000;

impl Store {
    /// Records what this node serves: a fingerprint of it, and the capabilities as a JSON object.
    pub async fn put_node_catalog(
        &self,
        fingerprint: &str,
        capabilities: &str,
    ) -> Result<(), DbError> {
        let Some(node) = self.node_of_several() else { return Ok(()) };
        let sql = format!(
            "INSERT INTO node_catalogs (node, fingerprint, capabilities, seen_at)
             VALUES ($1, $2, $3, {NOW})
             ON CONFLICT (node) DO UPDATE SET fingerprint = excluded.fingerprint,
             capabilities = excluded.capabilities, seen_at = excluded.seen_at"
        );
        transact!(self.inner.backend, |transaction| {
            sqlx::query(AssertSqlSafe(sql))
                .bind(&node)
                .bind(fingerprint)
                .bind(capabilities)
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }

    /// Records that this node runs, and forgets nodes that were not seen for an hour. Returns whether what this node
    /// serves is still recorded.
    pub async fn keep_node_catalog(&self) -> Result<bool, DbError> {
        let Some(node) = self.node_of_several() else { return Ok(true) };
        let keep = format!("UPDATE node_catalogs SET seen_at = {NOW} WHERE node = $1");
        let forget = format!("DELETE FROM node_catalogs WHERE seen_at < {NOW} - {KEPT_MS}");
        let kept = transact!(self.inner.backend, |transaction| {
            let kept = sqlx::query(AssertSqlSafe(keep))
                .bind(&node)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            sqlx::query(AssertSqlSafe(forget)).execute(&mut *transaction).await?;
            kept
        });
        Ok(kept > 0)
    }

    /// Returns the other nodes, each with the fingerprint of what it serves.
    pub async fn other_nodes(&self) -> Result<Vec<(String, String)>, DbError> {
        let Some(node) = self.node_of_several() else { return Ok(Vec::new()) };
        Ok(read!(self.inner.backend, |pool| {
            let others =
                "SELECT node, fingerprint FROM node_catalogs WHERE node <> $1 ORDER BY node";
            sqlx::query_as(others).bind(&node).fetch_all(pool).await?
        }))
    }

    /// Returns the capabilities that a node serves, as it has recorded them.
    pub async fn node_catalog(&self, node: &str) -> Result<Option<String>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT capabilities FROM node_catalogs WHERE node = $1")
                .bind(node)
                .fetch_optional(pool)
                .await?
        }))
    }

    /// Returns the id of this node, if others can be on its database.
    fn node_of_several(&self) -> Option<String> {
        match &*self.inner.backend {
            Backend::Sqlite(_) => None,
            Backend::Postgres(_) => self.inner.audit_chain.node(),
        }
    }
}
