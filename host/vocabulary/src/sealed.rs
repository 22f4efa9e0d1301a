//! Authenticated encryption of values that the database or a component keeps for the host.

use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce, aead::Aead as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// The first byte of a sealed value; another algorithm would have another byte.
const SEALED: u8 = 1;
const NONCE_BYTES: usize = 24;

/// Seals data with the first key. `random` is the call's randomness. Returns `None` only if there is no
/// key.
pub fn seal(keys: &[[u8; 32]], random: [u8; 32], data: &[u8]) -> Option<Vec<u8>> {
    let key = keys.first()?;
    // A retried call has the same randomness but may seal other data. The nonce depends on the randomness
    // and on the data, so it is never used for two texts.
    let mut mac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(key).ok()?;
    [b"nonce".as_slice(), &random, data].iter().for_each(|part| mac.update(part));
    let nonce = mac.finalize().into_bytes();
    let nonce: [u8; NONCE_BYTES] = nonce.get(..NONCE_BYTES)?.try_into().ok()?;
    let cipher = XChaCha20Poly1305::new(key.into());
    let text = cipher.encrypt(&XNonce::from(nonce), data).ok()?;
    Some([&[SEALED], nonce.as_slice(), &text].concat())
}

/// Opens a sealed value. Returns `None` if it was changed or if none of these keys sealed it.
pub fn open(keys: &[[u8; 32]], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, text) = sealed.strip_prefix(&[SEALED])?.split_at_checked(NONCE_BYTES)?;
    let nonce = XNonce::from(<[u8; NONCE_BYTES]>::try_from(nonce).ok()?);
    keys.iter().find_map(|key| XChaCha20Poly1305::new(key.into()).decrypt(&nonce, text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_unchanged_and_with_older_keys() {
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
