//! Keyed functions of a capability, with keys of its own that it never sees.

use crate::{
    sandbox::{
        contract::{secrets, types::HostError},
        state::CallState,
    },
    vocabulary::Keyring,
};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce, aead::Aead as _};
use hmac::{Hmac, Mac as _};
use rand::RngExt as _;
use sha2::Sha256;
use wasmtime::Result;

/// What `seal` and the like take at most.
const DATA_BYTES: usize = 64 << 10;
/// First byte of what `seal` gives; another way of sealing would have another one.
const SEALED: u8 = 1;
const NONCE_BYTES: usize = 24;

type Reply<T> = Result<std::result::Result<T, HostError>>;

impl CallState {
    /// The capability's own keys for one purpose, the newest first.
    fn own_keys(&mut self, purpose: &str) -> std::result::Result<Vec<[u8; 32]>, HostError> {
        let purpose = format!("{purpose} of {}", self.capability);
        Ok(self.work()?.unit.keys().derive(&purpose))
    }
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> Vec<u8> {
    let Ok(mut mac) = <Hmac<Sha256> as hmac::Mac>::new_from_slice(key) else {
        // Keys of any length are taken.
        return Vec::new();
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn check_length(data: &[u8]) -> std::result::Result<(), HostError> {
    match data.len() > DATA_BYTES {
        true => Err(HostError::Limit(format!("secrets take at most {DATA_BYTES} bytes"))),
        false => Ok(()),
    }
}

fn seal(keys: &[[u8; 32]], chance: [u8; 32], data: &[u8]) -> Option<Vec<u8>> {
    let key = keys.first()?;
    // The same call run again has the same chance and perhaps other data; a nonce that depends on
    // both is never used for two texts.
    let nonce = hmac(key, &[b"nonce", &chance, data]);
    let nonce: [u8; NONCE_BYTES] = nonce.get(..NONCE_BYTES)?.try_into().ok()?;
    let cipher = XChaCha20Poly1305::new(key.into());
    let text = cipher.encrypt(&XNonce::from(nonce), data).ok()?;
    Some([&[SEALED], nonce.as_slice(), &text].concat())
}

fn open(keys: &[[u8; 32]], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, text) = sealed.strip_prefix(&[SEALED])?.split_at_checked(NONCE_BYTES)?;
    let nonce = XNonce::from(<[u8; NONCE_BYTES]>::try_from(nonce).ok()?);
    keys.iter().find_map(|key| XChaCha20Poly1305::new(key.into()).decrypt(&nonce, text).ok())
}

impl secrets::Host for CallState {
    fn mac(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.all_macs(&data).map(|macs| macs.into_iter().next().unwrap_or_default()))
    }

    fn macs(&mut self, data: Vec<u8>) -> Reply<Vec<Vec<u8>>> {
        Ok(self.all_macs(&data))
    }

    fn seal(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        let chance = self.chance.generator().random();
        let sealed = check_length(&data).and_then(|()| {
            let keys = self.own_keys(Keyring::SEAL)?;
            seal(&keys, chance, &data)
                .ok_or_else(|| HostError::Unavailable("sealing failed".to_owned()))
        });
        Ok(sealed)
    }

    fn open(&mut self, sealed: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.own_keys(Keyring::SEAL).and_then(|keys| {
            let genuine = "this is not what seal gave, or not all of it";
            open(&keys, &sealed).ok_or_else(|| HostError::Invalid(genuine.to_owned()))
        }))
    }
}

impl CallState {
    fn all_macs(&mut self, data: &[u8]) -> std::result::Result<Vec<Vec<u8>>, HostError> {
        check_length(data)?;
        let keys = self.own_keys(Keyring::MAC)?;
        Ok(keys.iter().map(|key| hmac(key, &[data])).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_unchanged_and_with_older_keys() {
        let (old, new) = ([1; 32], [2; 32]);
        let sealed = seal(&[old], [7; 32], b"a secret").unwrap();
        assert_eq!(open(&[new, old], &sealed).unwrap(), b"a secret");
        assert_eq!(open(&[new], &sealed), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(open(&[old], &changed), None, "byte {place}");
        }
        assert_eq!(open(&[old], &sealed[..sealed.len() - 1]), None);
        assert_eq!(open(&[old], b""), None);
        assert_ne!(seal(&[old], [7; 32], b"another").unwrap()[1..25], sealed[1..25]);
    }
}
