//! The keys that access tokens are signed with.

use crate::{
    db::{DbError, Store, signed},
    vocabulary::Timestamp,
};
use sqlx::Row as _;

/// A signing key. Its private part leaves this room only to sign.
#[derive(Clone)]
pub struct SigningKeyRecord {
    /// The `kid` of tokens signed with it.
    pub id: String,
    /// PKCS #8 DER, Ed25519.
    pub private_key: Vec<u8>,
}

impl Store {
    /// The newest key.
    pub async fn lookup_signing_key(&self) -> Result<Option<SigningKeyRecord>, DbError> {
        let row = sqlx::query(
            "SELECT id, private_key FROM signing_keys ORDER BY created_at DESC, id DESC LIMIT 1",
        )
        .fetch_optional(&self.readers)
        .await?;
        let key = row.map(|row| -> Result<_, sqlx::Error> {
            Ok(SigningKeyRecord { id: row.try_get(0)?, private_key: row.try_get(1)? })
        });
        Ok(key.transpose()?)
    }

    pub async fn add_signing_key(
        &self,
        key: &SigningKeyRecord,
        now: Timestamp,
    ) -> Result<(), DbError> {
        sqlx::query("INSERT INTO signing_keys (id, private_key, created_at) VALUES (?, ?, ?)")
            .bind(&key.id)
            .bind(&key.private_key)
            .bind(signed(now.as_millis()))
            .execute(&self.writer)
            .await?;
        Ok(())
    }
}
