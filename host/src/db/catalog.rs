//! What the catalog was, so that its version goes on counting over restarts.

use crate::{
    db::{DbError, Store, read, signed, transact, unsigned},
    vocabulary::Timestamp,
};
use std::collections::BTreeMap;

/// The catalog when it last changed.
#[derive(Debug, Clone)]
pub struct CatalogState {
    pub version: u64,
    /// Hash over the ids and digests of the capabilities.
    pub fingerprint: String,
    pub changed_at: Timestamp,
}

impl Store {
    pub async fn lookup_catalog_state(&self) -> Result<Option<CatalogState>, DbError> {
        let row: Option<(i64, String, i64)> = read!(self, |pool| {
            sqlx::query_as("SELECT version, fingerprint, changed_at FROM catalog_state")
                .fetch_optional(pool)
                .await?
        });
        Ok(row.map(|(version, fingerprint, changed_at)| CatalogState {
            version: unsigned(version),
            fingerprint,
            changed_at: Timestamp::from_millis(unsigned(changed_at)),
        }))
    }

    /// When each capability was first served.
    pub async fn list_catalog_since(&self) -> Result<BTreeMap<String, Timestamp>, DbError> {
        let rows: Vec<(String, i64)> = read!(self, |pool| {
            sqlx::query_as("SELECT capability_id, since FROM catalog_since").fetch_all(pool).await?
        });
        let since = |(id, since)| (id, Timestamp::from_millis(unsigned(since)));
        Ok(rows.into_iter().map(since).collect())
    }

    /// Records a change, and the capabilities that are new with it.
    pub async fn put_catalog_state(
        &self,
        state: &CatalogState,
        added: &[&str],
    ) -> Result<(), DbError> {
        transact!(self, |transaction| {
            sqlx::query(
                r#"INSERT INTO catalog_state ("only", version, fingerprint, changed_at) VALUES (1, $1, $2, $3)
                 ON CONFLICT ("only") DO UPDATE SET version = excluded.version, fingerprint = excluded.fingerprint, changed_at = excluded.changed_at"#,
            )
            .bind(signed(state.version))
            .bind(&state.fingerprint)
            .bind(signed(state.changed_at.as_millis()))
            .execute(&mut *transaction)
            .await?;
            for id in added {
                sqlx::query("INSERT INTO catalog_since (capability_id, since) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                    .bind(id)
                    .bind(signed(state.changed_at.as_millis()))
                    .execute(&mut *transaction)
                    .await?;
            }
        });
        Ok(())
    }
}
