//! The keys that access tokens are signed with: Ed25519. The newest signs; older ones are good as
//! long as tokens of theirs may be about.

use crate::{IdentityError, secret, token::LONGEST_LIFETIME_S};
use arc_swap::ArcSwap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use jsonwebtoken::{DecodingKey, EncodingKey};
use portolan_store::{SigningKeyRecord, Store};
use portolan_vocabulary::{Timestamp, new_identifier};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// How old what is known of the keys may be: a new key signs everywhere within this time.
const AGE: Duration = Duration::from_secs(30);
/// Between two readings because of a key that is not known: a flood of made-up ones reads no faster.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct SigningKey {
    pub(super) id: String,
    pub(super) encoding: EncodingKey,
    pub(super) decoding: DecodingKey,
    created_at: Timestamp,
    /// Base64 of the public part.
    x: String,
}

/// Keys, the newest first, as they were read.
struct Known {
    keys: Vec<Arc<SigningKey>>,
    read_at: Instant,
}

pub(super) struct SigningKeys {
    store: Store,
    known: ArcSwap<Known>,
    reading: Mutex<()>,
}

impl SigningKeys {
    pub(super) async fn open(store: &Store) -> Result<Self, IdentityError> {
        let mut keys = read(store).await?;
        if keys.is_empty() {
            add(store).await?;
            keys = read(store).await?;
        }
        let known = ArcSwap::from_pointee(Known { keys, read_at: Instant::now() });
        Ok(Self { store: store.clone(), known, reading: Mutex::new(()) })
    }

    /// The key that signs.
    pub(super) async fn newest(&self) -> Result<Arc<SigningKey>, IdentityError> {
        if self.known.load().read_at.elapsed() > AGE {
            self.read_again(Instant::now()).await?;
        }
        let newest = self.known.load().keys.first().cloned();
        newest.ok_or_else(|| IdentityError::Key("there is none".to_owned()))
    }

    /// The key of a token; one that is not known may have been made just now on another node.
    pub(super) async fn find(&self, id: &str) -> Result<Option<Arc<SigningKey>>, IdentityError> {
        let known = |keys: &Self| keys.known.load().keys.iter().find(|key| key.id == id).cloned();
        if let Some(key) = known(self) {
            return Ok(Some(key));
        }
        self.read_again(Instant::now()).await?;
        Ok(known(self))
    }

    /// Reads the keys, unless they were read since.
    async fn read_again(&self, since: Instant) -> Result<(), IdentityError> {
        let _turn = self.reading.lock().await;
        let last = self.known.load().read_at;
        if last >= since {
            return Ok(());
        }
        tokio::time::sleep(PAUSE.saturating_sub(last.elapsed())).await;
        let read_at = Instant::now();
        self.known.store(Arc::new(Known { keys: read(&self.store).await?, read_at }));
        Ok(())
    }

    /// Makes a new key, which signs from now on, and forgets those that no token needs.
    pub(super) async fn rotate(&self) -> Result<Vec<Arc<SigningKey>>, IdentityError> {
        add(&self.store).await?;
        self.read_again(Instant::now()).await?;
        let keys = self.known.load().keys.clone();
        if let Some(oldest) = keys.last() {
            self.store.drop_signing_keys(oldest.created_at).await?;
        }
        Ok(keys)
    }

    /// RFC 7517; Ed25519 as in RFC 8037.
    pub(super) async fn public(&self) -> Result<Value, IdentityError> {
        self.newest().await?;
        let jwk = |key: &Arc<SigningKey>| {
            json!({
                "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
                "kid": key.id, "x": key.x,
            })
        };
        let keys: Vec<_> = self.known.load().keys.iter().map(jwk).collect();
        Ok(json!({ "keys": keys }))
    }
}

impl SigningKey {
    pub(super) fn created_at(&self) -> Timestamp {
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
        let ids: Vec<_> = self.known.load().keys.iter().map(|key| key.id.clone()).collect();
        formatter.debug_tuple("SigningKeys").field(&ids).finish()
    }
}

/// Every key whose tokens may be about: it is the newest, or was until less than a token's life ago.
async fn read(store: &Store) -> Result<Vec<Arc<SigningKey>>, IdentityError> {
    let now = Timestamp::now().as_secs();
    let mut keys = Vec::new();
    let mut followed_at = None;
    for record in store.signing_keys().await? {
        let created_at = record.created_at.as_secs();
        // A little longer, for nodes that have not yet heard of the newer key.
        let life = LONGEST_LIFETIME_S + 2 * AGE.as_secs();
        if followed_at.is_none_or(|followed_at| followed_at + life > now) {
            keys.push(Arc::new(SigningKey::new(record)?));
        }
        followed_at = Some(created_at);
    }
    Ok(keys)
}

async fn add(store: &Store) -> Result<(), IdentityError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(IdentityError::Random)?;
    let private_key = ed25519_dalek::SigningKey::from_bytes(&seed)
        .to_pkcs8_der()
        .map_err(|error| IdentityError::Key(error.to_string()))?
        .as_bytes()
        .to_vec();
    let created_at = Timestamp::now();
    let id = new_identifier("key", created_at, secret::random()?);
    Ok(store.add_signing_key(&SigningKeyRecord { id, private_key, created_at }).await?)
}
