//! The keys that access tokens are signed with.

use crate::{
    connection::read, connection::transact, error::DbError, integers::signed, integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;

/// A signing key. It has no `Debug`, so that its private part is not written to logs.
#[derive(Clone)]
pub struct SigningKeyRecord {
    /// The `kid` of tokens signed with it.
    pub id: String,
    /// PKCS #8 DER, Ed25519.
    pub private_key: Vec<u8>,
    pub created_at: Timestamp,
}

impl Store {
    /// Returns every key, the newest first.
    pub async fn signing_keys(&self) -> Result<Vec<SigningKeyRecord>, DbError> {
        let rows: Vec<(String, Vec<u8>, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, private_key, created_at FROM signing_keys ORDER BY created_at DESC, id DESC",
            )
            .fetch_all(pool)
            .await?
        });
        let key = |(id, private_key, created_at): (String, Vec<u8>, i64)| SigningKeyRecord {
            id,
            private_key,
            created_at: Timestamp::from_millis(unsigned(created_at)),
        };
        Ok(rows.into_iter().map(key).collect())
    }

    pub async fn add_signing_key(&self, key: &SigningKeyRecord) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO signing_keys (id, private_key, created_at) VALUES ($1, $2, $3)",
            )
            .bind(&key.id)
            .bind(&key.private_key)
            .bind(signed(key.created_at.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }

    /// Deletes every key that was created before this time.
    pub async fn drop_signing_keys(&self, before: Timestamp) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("DELETE FROM signing_keys WHERE created_at < $1")
                .bind(signed(before.as_millis()))
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }
}
