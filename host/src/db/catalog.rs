//! What the catalog was, so that its version goes on counting over restarts.

use crate::{
    db::{DbError, Store, signed, unsigned},
    vocabulary::Timestamp,
};
use sqlx::Row as _;
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
        let row = sqlx::query("SELECT version, fingerprint, changed_at FROM catalog_state")
            .fetch_optional(&self.readers)
            .await?;
        let state = row.map(|row| -> Result<_, sqlx::Error> {
            Ok(CatalogState {
                version: unsigned(row.try_get(0)?),
                fingerprint: row.try_get(1)?,
                changed_at: Timestamp::from_millis(unsigned(row.try_get(2)?)),
            })
        });
        Ok(state.transpose()?)
    }

    /// When each capability was first served.
    pub async fn list_catalog_since(&self) -> Result<BTreeMap<String, Timestamp>, DbError> {
        let rows = sqlx::query("SELECT capability_id, since FROM catalog_since")
            .fetch_all(&self.readers)
            .await?;
        let since = rows.iter().map(|row| -> Result<_, sqlx::Error> {
            Ok((row.try_get(0)?, Timestamp::from_millis(unsigned(row.try_get(1)?))))
        });
        Ok(since.collect::<Result<_, _>>()?)
    }

    /// Records a change, and the capabilities that are new with it.
    pub async fn put_catalog_state(
        &self,
        state: &CatalogState,
        added: &[&str],
    ) -> Result<(), DbError> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(
            "INSERT INTO catalog_state (only, version, fingerprint, changed_at) VALUES (1, ?, ?, ?)
             ON CONFLICT (only) DO UPDATE SET version = excluded.version, fingerprint = excluded.fingerprint, changed_at = excluded.changed_at",
        )
        .bind(signed(state.version))
        .bind(&state.fingerprint)
        .bind(signed(state.changed_at.as_millis()))
        .execute(&mut *transaction)
        .await?;
        for id in added {
            sqlx::query("INSERT INTO catalog_since (capability_id, since) VALUES (?, ?) ON CONFLICT DO NOTHING")
                .bind(id)
                .bind(signed(state.changed_at.as_millis()))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}
