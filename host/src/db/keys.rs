//! The keys that access tokens are signed with.

use crate::{
    db::{DbError, Store, read, signed, transact},
    vocabulary::Timestamp,
};

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
        let row: Option<(String, Vec<u8>)> = read!(self, |pool| {
            sqlx::query_as(
                "SELECT id, private_key FROM signing_keys ORDER BY created_at DESC, id DESC LIMIT 1",
            )
            .fetch_optional(pool)
            .await?
        });
        Ok(row.map(|(id, private_key)| SigningKeyRecord { id, private_key }))
    }

    pub async fn add_signing_key(
        &self,
        key: &SigningKeyRecord,
        now: Timestamp,
    ) -> Result<(), DbError> {
        transact!(self, |transaction| {
            sqlx::query(
                "INSERT INTO signing_keys (id, private_key, created_at) VALUES ($1, $2, $3)",
            )
            .bind(&key.id)
            .bind(&key.private_key)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }
}
