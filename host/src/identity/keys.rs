//! The key that access tokens are signed with: Ed25519, made at the first start.

use crate::{
    db::{SigningKeyRecord, Store},
    identity::{IdentityError, secret},
    vocabulary::{Timestamp, new_identifier},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use jsonwebtoken::{DecodingKey, EncodingKey};

pub(super) struct SigningKey {
    pub(super) id: String,
    pub(super) encoding: EncodingKey,
    pub(super) decoding: DecodingKey,
}

impl SigningKey {
    pub(super) async fn open(store: &Store) -> Result<Self, IdentityError> {
        let record = match store.lookup_signing_key().await? {
            Some(record) => record,
            None => {
                let record = generate()?;
                store.add_signing_key(&record, Timestamp::now()).await?;
                record
            }
        };
        let private = ed25519_dalek::SigningKey::from_pkcs8_der(&record.private_key)
            .map_err(|error| IdentityError::Key(error.to_string()))?;
        let public = URL_SAFE_NO_PAD.encode(private.verifying_key().as_bytes());
        Ok(Self {
            id: record.id,
            encoding: EncodingKey::from_ed_der(&record.private_key),
            decoding: DecodingKey::from_ed_components(&public)
                .map_err(|error| IdentityError::Key(error.to_string()))?,
        })
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

fn generate() -> Result<SigningKeyRecord, IdentityError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(IdentityError::Random)?;
    let private_key = ed25519_dalek::SigningKey::from_bytes(&seed)
        .to_pkcs8_der()
        .map_err(|error| IdentityError::Key(error.to_string()))?
        .as_bytes()
        .to_vec();
    let id = new_identifier("key", Timestamp::now(), secret::random()?);
    Ok(SigningKeyRecord { id, private_key })
}
