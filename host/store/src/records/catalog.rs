//! The last state of the catalog, so that its version continues to count after a restart.

use crate::{
    connection::read, connection::transact, error::DbError, integers::signed, integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use std::collections::BTreeMap;

/// The catalog when it last changed.
#[derive(Debug, Clone)]
pub struct CatalogState {
    pub version: u64,
    /// Hash over the ids and digests of the capabilities.
    pub fingerprint: String,
    pub changed_at: Timestamp,
}

/// A capability that is or was served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedCapability {
    /// The time when the capability was first served.
    pub since: Timestamp,
    /// Its version and the digest of its component; `None` if it is not served now.
    pub version: Option<String>,
}

impl Store {
    pub async fn find_catalog_state(&self) -> Result<Option<CatalogState>, DbError> {
        let row: Option<(i64, String, i64)> = read!(self.inner.backend, |pool| {
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

    /// Returns every capability that was ever served.
    pub async fn list_served(&self) -> Result<BTreeMap<String, ServedCapability>, DbError> {
        let rows: Vec<(String, i64, Option<String>)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT capability_id, since, version FROM catalog_since")
                .fetch_all(pool)
                .await?
        });
        let served = |(id, since, version)| {
            (id, ServedCapability { since: Timestamp::from_millis(unsigned(since)), version })
        };
        Ok(rows.into_iter().map(served).collect())
    }

    /// Records a change of the catalog, and which capabilities the node serves now; all others are not served.
    pub async fn put_catalog_state(
        &self,
        state: &CatalogState,
        served: &BTreeMap<String, ServedCapability>,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                r#"INSERT INTO catalog_state ("only", version, fingerprint, changed_at) VALUES (1, $1, $2, $3)
                 ON CONFLICT ("only") DO UPDATE SET version = excluded.version, fingerprint = excluded.fingerprint, changed_at = excluded.changed_at"#,
            )
            .bind(signed(state.version))
            .bind(&state.fingerprint)
            .bind(signed(state.changed_at.as_millis()))
            .execute(&mut *transaction)
            .await?;
            // Another node may have served capabilities of which this one does not know.
            sqlx::query("UPDATE catalog_since SET version = NULL")
                .execute(&mut *transaction)
                .await?;
            for (id, served) in served {
                sqlx::query(
                    "INSERT INTO catalog_since (capability_id, since, version) VALUES ($1, $2, $3)
                     ON CONFLICT (capability_id) DO UPDATE SET version = excluded.version",
                )
                .bind(id)
                .bind(signed(served.since.as_millis()))
                .bind(&served.version)
                .execute(&mut *transaction)
                .await?;
            }
        });
        Ok(())
    }
}
