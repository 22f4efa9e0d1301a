//! The host's secret keys, from which keys for each purpose are derived.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hkdf::Hkdf;
use sha2::Sha256;
use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};
use zeroize::{Zeroize as _, Zeroizing};

/// Keys that were derived for one purpose, the newest first. They are cleared when they are dropped.
pub type DerivedKeys = Zeroizing<Vec<[u8; 32]>>;

/// Secret keys of 256 bits, the newest first. The newest signs and seals; all are tried for
/// verification and opening. They are cleared from memory when they are dropped. Clones share the keys, so that
/// [`Keyring::replace`] replaces them everywhere.
#[derive(Clone)]
pub struct Keyring(Arc<RwLock<Keys>>);

/// The keys, the newest first.
type Keys = Zeroizing<Vec<[u8; 32]>>;

impl Keyring {
    /// The purposes, each with derived keys of its own.
    pub const ADDRESSES: &str = "addresses";
    pub const BLOBS: &str = "blobs";
    pub const CURSORS: &str = "cursors";
    pub const EMAILS: &str = "emails";
    pub const LOOKUPS: &str = "lookups";
    pub const MAC: &str = "mac";
    pub const RATES: &str = "rates";
    pub const RECORDED_ARGUMENTS: &str = "recorded arguments";
    pub const RECORDINGS: &str = "recordings";
    pub const SEAL: &str = "seal";
    pub const SIGNING_KEYS: &str = "signing keys";
    pub const TEXT_MESSAGES: &str = "text messages";
    pub const WEBHOOKS: &str = "webhooks";

    /// Parses one key in base64 per line or between commas; empty lines and text after `#` are
    /// ignored.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().flat_map(|line| line.split('#').take(1));
        let parts = lines.flat_map(|line| line.split(',')).map(str::trim);
        let keys = parts.filter(|part| !part.is_empty()).map(|part| {
            let bytes = Zeroizing::new(STANDARD.decode(part).ok()?);
            <[u8; 32]>::try_from(bytes.as_slice()).ok()
        });
        match keys.collect::<Option<Vec<_>>>() {
            Some(keys) if !keys.is_empty() => {
                Ok(Self(Arc::new(RwLock::new(Zeroizing::new(keys)))))
            }
            _ => Err("write one or more keys of 32 bytes in base64, the newest first; `head -c 32 /dev/urandom | base64` makes one".to_owned()),
        }
    }

    /// Generates one new key and returns it in base64.
    pub fn generate() -> Result<String, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        let text = STANDARD.encode(key);
        key.zeroize();
        Ok(text)
    }

    fn keys(&self) -> Keys {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the keys of this keyring and of all its clones by those of another one. Keys that were derived
    /// before stay as they are.
    pub fn replace(&self, other: &Self) {
        let keys = other.keys();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// Derives the keys of one purpose, the newest first (RFC 5869).
    pub fn derive(&self, purpose: &str) -> DerivedKeys {
        // With its full capacity from the start, the list leaves no copy behind when it grows.
        let own = self.keys();
        let mut keys = Zeroizing::new(Vec::with_capacity(own.len()));
        for key in own.iter() {
            let mut derived = [0; 32];
            // HKDF can derive far more than 32 bytes, so this does not fail.
            if Hkdf::<Sha256>::new(None, key).expand(purpose.as_bytes(), &mut derived).is_ok() {
                keys.push(derived);
            }
            derived.zeroize();
        }
        keys
    }

    /// Derives the keys of a capability for one purpose.
    pub fn derive_for(&self, capability: &str, purpose: &str) -> DerivedKeys {
        self.derive(&format!("{purpose} of {capability}"))
    }
}

impl PartialEq for Keyring {
    fn eq(&self, other: &Self) -> bool {
        self.keys() == other.keys()
    }
}

impl Eq for Keyring {}

impl fmt::Debug for Keyring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys", self.keys().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_and_each_key_has_its_own_derived_key() {
        let (old, new) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
        let keys = Keyring::parse(&format!("{new} # newest\n\n{old}\n")).unwrap();
        assert_eq!(keys, Keyring::parse(&format!("{new},{old}")).unwrap());
        let cursors = keys.derive("cursor");
        assert_eq!(cursors.len(), 2);
        assert_ne!(cursors[0], cursors[1]);
        assert_ne!(cursors[0], keys.derive("secrets ledger")[0]);
        assert_eq!(cursors[1], Keyring::parse(&old).unwrap().derive("cursor")[0]);
    }

    #[test]
    fn clones_share_the_keys_that_replace_them() {
        let keyring = || Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let (keys, other) = (keyring(), keyring());
        let clone = keys.clone();
        assert_ne!(clone, other);
        keys.replace(&other);
        assert_eq!(clone, other);
        assert_eq!(clone.derive("cursor"), other.derive("cursor"));
    }

    #[test]
    fn invalid_keys_are_refused() {
        for text in ["", "# nothing", "c2hvcnQ=", "?"] {
            assert!(Keyring::parse(text).is_err(), "{text}");
        }
    }
}
