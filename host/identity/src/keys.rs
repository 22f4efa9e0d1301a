//! The Ed25519 keys of access tokens. The newest one signs; an older one verifies as long as a token
//! that it signed can be valid.

use crate::{error::IdentityError, secret, token::LONGEST_LIFETIME_S};
use arc_swap::ArcSwap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use jsonwebtoken::{DecodingKey, EncodingKey};
use portolan_store::{SigningKeyRecord, Store};
use portolan_vocabulary::{Clock, Timestamp, entropy, new_identifier};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// The time for which keys are cached. A new key signs on every node within this time.
const AGE: Duration = Duration::from_secs(30);
/// The minimum time between two reads of the keys from the store. It limits the reads that a flood of made-up
/// key ids causes.
const READ_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct SigningKey {
    pub(crate) id: String,
    pub(crate) encoding: EncodingKey,
    pub(crate) decoding: DecodingKey,
    created_at: Timestamp,
    /// The public part in base64url.
    x: String,
}

/// The keys as they were read from the store, the newest first.
struct Cached {
    keys: Vec<Arc<SigningKey>>,
    read_at: Instant,
}

pub(crate) struct SigningKeys {
    store: Store,
    clock: Clock,
    cached: ArcSwap<Cached>,
    reading: Mutex<()>,
}

impl SigningKeys {
    /// Reads the keys. Creates the first one if there is none.
    pub(crate) async fn open(store: &Store, clock: &Clock) -> Result<Self, IdentityError> {
        let mut keys = load(store, clock.now()).await?;
        if keys.is_empty() {
            add(store, clock.now()).await?;
            keys = load(store, clock.now()).await?;
        }
        let cached = ArcSwap::from_pointee(Cached { keys, read_at: Instant::now() });
        Ok(Self { store: store.clone(), clock: clock.clone(), cached, reading: Mutex::new(()) })
    }

    /// Returns the key that signs.
    pub(crate) async fn newest(&self) -> Result<Arc<SigningKey>, IdentityError> {
        if self.cached.load().read_at.elapsed() > AGE {
            self.reload(Instant::now()).await?;
        }
        let newest = self.cached.load().keys.first().cloned();
        newest.ok_or_else(|| IdentityError::Key("there is no signing key".to_owned()))
    }

    /// Finds a key by its id. If it is not cached, another node may have created it just now, so the keys are
    /// read again.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<Arc<SigningKey>>, IdentityError> {
        let cached = || self.cached.load().keys.iter().find(|key| key.id == id).cloned();
        if let Some(key) = cached() {
            return Ok(Some(key));
        }
        self.reload(Instant::now()).await?;
        Ok(cached())
    }

    /// Reads the keys again, unless another task has read them since that time.
    async fn reload(&self, since: Instant) -> Result<(), IdentityError> {
        let _guard = self.reading.lock().await;
        let last = self.cached.load().read_at;
        if last >= since {
            return Ok(());
        }
        tokio::time::sleep(READ_INTERVAL.saturating_sub(last.elapsed())).await;
        let read_at = Instant::now();
        let keys = load(&self.store, self.clock.now()).await?;
        self.cached.store(Arc::new(Cached { keys, read_at }));
        Ok(())
    }

    /// Creates a key, which signs from now on, and deletes the keys that no valid token needs.
    /// Returns the remaining ones, the newest first.
    pub(crate) async fn rotate(&self) -> Result<Vec<Arc<SigningKey>>, IdentityError> {
        add(&self.store, self.clock.now()).await?;
        self.reload(Instant::now()).await?;
        let keys = self.cached.load().keys.clone();
        if let Some(oldest) = keys.last() {
            self.store.drop_signing_keys(oldest.created_at).await?;
        }
        Ok(keys)
    }

    /// Returns the public parts as a key set (RFC 7517; Ed25519 as in RFC 8037).
    pub(crate) async fn public_key_set(&self) -> Result<Value, IdentityError> {
        self.newest().await?;
        let jwk = |key: &Arc<SigningKey>| {
            json!({
                "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
                "kid": key.id, "x": key.x,
            })
        };
        let keys: Vec<_> = self.cached.load().keys.iter().map(jwk).collect();
        Ok(json!({ "keys": keys }))
    }
}

impl SigningKey {
    pub(crate) fn created_at(&self) -> Timestamp {
        self.created_at
    }

    fn new(record: SigningKeyRecord) -> Result<Self, IdentityError> {
        let private = ed25519_dalek::SigningKey::from_pkcs8_der(&record.private_key)
            .map_err(|error| IdentityError::Key(error.to_string()))?;
        let x = URL_SAFE_NO_PAD.encode(private.verifying_key().as_bytes());
        Ok(Self {
            id: record.id,
            encoding: EncodingKey::from_ed_der(&record.private_key),
            decoding: DecodingKey::from_ed_components(&x)
                .map_err(|error| IdentityError::Key(error.to_string()))?,
            created_at: record.created_at,
            x,
        })
    }
}

impl std::fmt::Debug for SigningKeys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<_> = self.cached.load().keys.iter().map(|key| key.id.clone()).collect();
        formatter.debug_tuple("SigningKeys").field(&ids).finish()
    }
}

/// Loads every key that a valid token can need, in order from the newest: the key that signs now, and each
/// older key whose last token may not have expired yet.
async fn load(store: &Store, now: Timestamp) -> Result<Vec<Arc<SigningKey>>, IdentityError> {
    let now = now.as_secs();
    let mut keys = Vec::new();
    let mut succeeded_at = None;
    for record in store.signing_keys().await? {
        let created_at = record.created_at.as_secs();
        // Other nodes sign with the older key until they have read the newer one, so older keys are
        // kept a little longer.
        let life = LONGEST_LIFETIME_S + 2 * AGE.as_secs();
        if succeeded_at.is_none_or(|succeeded_at| succeeded_at + life > now) {
            keys.push(Arc::new(SigningKey::new(record)?));
        }
        succeeded_at = Some(created_at);
    }
    Ok(keys)
}

async fn add(store: &Store, created_at: Timestamp) -> Result<(), IdentityError> {
    let private_key = ed25519_dalek::SigningKey::from_bytes(&entropy())
        .to_pkcs8_der()
        .map_err(|error| IdentityError::Key(error.to_string()))?
        .as_bytes()
        .to_vec();
    let id = new_identifier("key", created_at, secret::random());
    Ok(store.add_signing_key(&SigningKeyRecord { id, private_key, created_at }).await?)
}
