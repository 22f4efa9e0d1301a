//! The sealing of the host's private keys by a key that the database does not have.

use crate::{Digest, Keyring, entropy, sealed};
use std::{fmt, pin::Pin};
use zeroize::Zeroizing;

/// An Ed25519 private key. It is cleared from memory when it is dropped.
pub type PrivateKey = Zeroizing<[u8; 32]>;

/// A private key as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// The name of the key that sealed it, such as `keyring:` and a fingerprint.
    pub sealed_by: String,
    pub sealed: Vec<u8>,
}

/// The reason why a private key cannot be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum KeySealError {
    #[error("the keyring is empty")]
    NoKey,
    #[error(
        "the key {id} is sealed by {sealed_by}, which this host does not have: put the line back that was removed from secret.keys, or use the PORTOLAN_SECRET_KEYS of the other hosts of this database"
    )]
    Missing { id: String, sealed_by: String },
    #[error("the sealed key {0} was changed: restore it from a backup of the database")]
    Changed(String),
}

/// The result of sealing or opening, which can need a request to another machine.
pub type SealFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, KeySealError>> + Send + 'a>>;

/// A holder of the keys that seal private keys: the host's keyring, or a service that never gives its keys
/// away.
pub trait KeySeal: fmt::Debug + Send + Sync {
    /// Returns the name of the key that seals now.
    fn name(&self) -> Result<String, KeySealError>;

    /// Seals a private key. It can be opened under the same id only.
    fn seal<'a>(&'a self, id: &'a str, key: &'a PrivateKey) -> SealFuture<'a, SealedKey>;

    /// Opens a private key by the key that its sealed form names.
    fn open<'a>(&'a self, id: &'a str, sealed: &'a SealedKey) -> SealFuture<'a, PrivateKey>;
}

impl Keyring {
    /// Returns the names of the keys, the newest first. A name reveals nothing about its key.
    pub fn names(&self) -> Vec<String> {
        let fingerprints = self.derive("names of keys");
        let name = |key: &[u8; 32]| format!("keyring:{:.16}", Digest::of(key).hex());
        fingerprints.iter().map(name).collect()
    }
}

impl KeySeal for Keyring {
    fn name(&self) -> Result<String, KeySealError> {
        self.names().into_iter().next().ok_or(KeySealError::NoKey)
    }

    fn seal<'a>(&'a self, id: &'a str, key: &'a PrivateKey) -> SealFuture<'a, SealedKey> {
        Box::pin(async move {
            let keys = self.derive(&format!("{} {id}", Self::SIGNING_KEYS));
            let sealed = sealed::seal(&keys, entropy(), &key[..]).ok_or(KeySealError::NoKey)?;
            Ok(SealedKey { sealed_by: self.name()?, sealed })
        })
    }

    fn open<'a>(&'a self, id: &'a str, sealed: &'a SealedKey) -> SealFuture<'a, PrivateKey> {
        Box::pin(async move {
            if !self.names().contains(&sealed.sealed_by) {
                let sealed_by = sealed.sealed_by.clone();
                return Err(KeySealError::Missing { id: id.to_owned(), sealed_by });
            }
            let keys = self.derive(&format!("{} {id}", Self::SIGNING_KEYS));
            let changed = || KeySealError::Changed(id.to_owned());
            let opened = Zeroizing::new(sealed::open(&keys, &sealed.sealed).ok_or_else(changed)?);
            Ok(Zeroizing::new(opened.as_slice().try_into().map_err(|_| changed())?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_opens_under_its_id_by_the_key_that_its_sealed_form_names() {
        let (old, new) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
        let keyring = |text: &str| Keyring::parse(text).unwrap();
        let key = Zeroizing::new([7; 32]);
        let sealed = keyring(&old).seal("key_1", &key).await.unwrap();
        assert_eq!(sealed.sealed_by, keyring(&old).name().unwrap());
        let both = keyring(&format!("{new},{old}"));
        assert_ne!(sealed.sealed_by, both.name().unwrap());
        assert_eq!(both.open("key_1", &sealed).await.unwrap(), key);
        let missing = keyring(&new).open("key_1", &sealed).await.unwrap_err();
        assert!(matches!(missing, KeySealError::Missing { .. }), "{missing}");
        let of_another = both.open("key_2", &sealed).await.unwrap_err();
        assert!(matches!(of_another, KeySealError::Changed(_)), "{of_another}");
    }
}
