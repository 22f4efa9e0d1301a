//! The Ed25519 keys of access tokens. The newest one signs; an older one verifies as long as a token
//! that it signed can be valid.

use crate::{error::IdentityError, token::LONGEST_LIFETIME_S};
use arc_swap::ArcSwap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::Signer as _;
use jsonwebtoken::{DecodingKey, Header};
use portolan_store::{self as store, KeyPurpose, Store};
use portolan_vocabulary::{Clock, Timestamp};
use serde::Serialize;
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
    private: ed25519_dalek::SigningKey,
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
            store.create_signing_key(KeyPurpose::Tokens, None, clock.now()).await?;
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
        self.reload(Instant::now()).await?;
        while !self.succeed(&*self.newest().await?).await? {}
        Ok(self.cached.load().keys.clone())
    }

    /// Creates a key if the one that signs is older than this. Returns the id of the new key; `None` if none
    /// was needed, or another node has created one.
    pub(crate) async fn rotate_after(&self, age_ms: u64) -> Result<Option<String>, IdentityError> {
        let newest = self.newest().await?;
        let age = self.clock.now().as_millis().saturating_sub(newest.created_at.as_millis());
        if age < age_ms || !self.succeed(&newest).await? {
            return Ok(None);
        }
        Ok(Some(self.newest().await?.id.clone()))
    }

    /// Creates a key, which signs from now on, if this is still the newest one, and deletes the keys that no
    /// valid token needs. Returns whether a key was created.
    async fn succeed(&self, newest: &SigningKey) -> Result<bool, IdentityError> {
        let (purpose, now) = (KeyPurpose::Tokens, self.clock.now());
        let created = self.store.create_signing_key(purpose, Some(&newest.id), now).await?;
        self.reload(Instant::now()).await?;
        if let Some(oldest) = self.cached.load().keys.last() {
            self.store.drop_token_keys(oldest.created_at).await?;
        }
        Ok(created)
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

    fn new(key: store::SigningKey) -> Result<Self, IdentityError> {
        let x = URL_SAFE_NO_PAD.encode(key.private.verifying_key().as_bytes());
        Ok(Self {
            id: key.id,
            private: key.private,
            decoding: DecodingKey::from_ed_components(&x)
                .map_err(|error| IdentityError::Key(error.to_string()))?,
            created_at: key.created_at,
            x,
        })
    }

    /// Signs a JSON Web Token (RFC 7515, section 3.1). The library's own signing key would keep a copy of the
    /// private key that is never cleared from memory.
    pub(crate) fn sign(
        &self,
        header: &Header,
        claims: &impl Serialize,
    ) -> Result<String, IdentityError> {
        let unwritable = |error: serde_json::Error| IdentityError::Key(error.to_string());
        let header = serde_json::to_vec(header).map_err(unwritable)?;
        let claims = serde_json::to_vec(claims).map_err(unwritable)?;
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signed = format!("{header}.{claims}");
        let signature = URL_SAFE_NO_PAD.encode(self.private.sign(signed.as_bytes()).to_bytes());
        Ok(format!("{signed}.{signature}"))
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
    for key in store.signing_keys(KeyPurpose::Tokens).await? {
        let created_at = key.created_at.as_secs();
        // Other nodes sign with the older key until they have read the newer one, so older keys are
        // kept a little longer.
        let life = LONGEST_LIFETIME_S + 2 * AGE.as_secs();
        if succeeded_at.is_none_or(|succeeded_at| succeeded_at + life > now) {
            keys.push(Arc::new(SigningKey::new(key)?));
        }
        succeeded_at = Some(created_at);
    }
    Ok(keys)
}
