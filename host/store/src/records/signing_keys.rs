//! The private keys of the host, which sign access tokens and the audit log. They are stored sealed.

use crate::{
    connection::{read, transact_alone},
    error::{DbError, KeyError},
    integers::{signed, unsigned},
    signing_key::SigningKey,
    store::Store,
};
use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use portolan_vocabulary::{PrivateKey, SealedKey, Timestamp, entropy, new_identifier};
use zeroize::Zeroizing;

/// The purpose of a signing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPurpose {
    Tokens,
    Audit,
}

impl KeyPurpose {
    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Audit => "audit",
        }
    }
}

/// A signing key as it is stored. In a row of an earlier version, `sealed_by` is empty, and the key is
/// PKCS #8 DER in the clear.
struct Row {
    id: String,
    key: SealedKey,
    created_at: Timestamp,
}

impl Store {
    /// Returns every key of a purpose, the newest first. Seals those that the newest key of the host has not
    /// sealed: keys of an earlier version, and all after a new key was added.
    pub async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, KeyError> {
        let seal = &*self.inner.key_seal;
        let newest = seal.name()?;
        let mut keys = Vec::new();
        for Row { id, key, created_at } in self.signing_key_rows(purpose).await? {
            let private = match key.sealed_by.as_str() {
                "" => ed25519_dalek::SigningKey::from_pkcs8_der(&key.sealed)
                    .map_err(|error| KeyError::Unreadable(id.clone(), error.to_string()))?,
                _ => ed25519_dalek::SigningKey::from_bytes(&*seal.open(&id, &key).await?),
            };
            if key.sealed_by != newest {
                let sealed = seal.seal(&id, &Zeroizing::new(private.to_bytes())).await?;
                self.replace_sealed_key(&id, &key.sealed_by, &sealed).await?;
            }
            keys.push(SigningKey { id, private, created_at });
        }
        Ok(keys)
    }

    /// Creates a key, unless the newest one of its purpose is not `newest`: then another node has created one
    /// meanwhile. Returns whether it was created.
    pub async fn create_signing_key(
        &self,
        purpose: KeyPurpose,
        newest: Option<&str>,
        created_at: Timestamp,
    ) -> Result<bool, KeyError> {
        let private: PrivateKey = Zeroizing::new(entropy());
        let id = new_identifier("key", created_at, u128::from_le_bytes(entropy()));
        let key = self.inner.key_seal.seal(&id, &private).await?;
        Ok(self.add_signing_key(purpose, &Row { id, key, created_at }, newest).await?)
    }

    /// Deletes every key of tokens that was created before this time.
    pub async fn drop_token_keys(&self, before: Timestamp) -> Result<(), DbError> {
        transact_alone!(self.inner.backend, |transaction| {
            sqlx::query("DELETE FROM signing_keys WHERE purpose = 'tokens' AND created_at < $1")
                .bind(signed(before.as_millis()))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    async fn signing_key_rows(&self, purpose: KeyPurpose) -> Result<Vec<Row>, DbError> {
        let rows: Vec<(String, String, Vec<u8>, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, sealed_by, private_key, created_at FROM signing_keys
                 WHERE purpose = $1 ORDER BY created_at DESC, id DESC",
            )
            .bind(purpose.name())
            .fetch_all(pool)
            .await?
        });
        let row = |(id, sealed_by, sealed, created_at)| Row {
            id,
            key: SealedKey { sealed_by, sealed },
            created_at: Timestamp::from_millis(unsigned(created_at)),
        };
        Ok(rows.into_iter().map(row).collect())
    }

    async fn add_signing_key(
        &self,
        purpose: KeyPurpose,
        row: &Row,
        newest: Option<&str>,
    ) -> Result<bool, DbError> {
        let added = transact_alone!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO signing_keys (id, purpose, sealed_by, private_key, created_at)
                 SELECT $1, $2, $3, $4, $5 WHERE coalesce((SELECT id FROM signing_keys
                   WHERE purpose = $2 ORDER BY created_at DESC, id DESC LIMIT 1), '') = $6",
            )
            .bind(row.id.as_str())
            .bind(purpose.name())
            .bind(row.key.sealed_by.as_str())
            .bind(row.key.sealed.as_slice())
            .bind(signed(row.created_at.as_millis()))
            .bind(newest.unwrap_or_default())
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(added == 1)
    }

    /// Replaces the stored form of a private key, if it is still sealed by this key.
    async fn replace_sealed_key(
        &self,
        id: &str,
        sealed_by: &str,
        key: &SealedKey,
    ) -> Result<(), DbError> {
        transact_alone!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE signing_keys SET sealed_by = $1, private_key = $2
                 WHERE id = $3 AND sealed_by = $4",
            )
            .bind(key.sealed_by.as_str())
            .bind(key.sealed.as_slice())
            .bind(id)
            .bind(sealed_by)
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        // The database's file still has the former form.
        self.scrub().await
    }
}
