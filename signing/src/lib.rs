//! Signatures of components: the custom section that holds one, and the keys that make them.
//!
//! A signature is the last section of a component, a custom section named `portolan-signature`. Its
//! content is a version (one byte, 1), the public key (32 bytes) and an Ed25519 signature (64 bytes) of the
//! text `portolan component signature v1`, a zero byte, and the SHA-256 of everything before the section.

mod key;

pub use ed25519_dalek::SigningKey;
pub use key::{KeyError, PublicKey, create_key, read_key, user_key};

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use sha2::{Digest as _, Sha256};

const SECTION: &str = "portolan-signature";
const CONTEXT: &[u8] = b"portolan component signature v1\0";
const VERSION: u8 = 1;
/// The bytes before the first section: `\0asm` and the version.
const PREAMBLE: usize = 8;
/// The bytes of a signature section's content: version, key, signature.
const CONTENT: usize = 1 + 32 + 64;
/// The bytes of a signature section, which one byte of LEB128 holds.
const SECTION_SIZE: u8 = (1 + SECTION.len() + CONTENT) as u8;
const _: () = assert!(1 + SECTION.len() + CONTENT < 128);

/// Why a signature proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("its sections cannot be read")]
    Malformed,
    #[error("it has a signature that is not its last section, or more than one")]
    Misplaced,
    #[error("its signature is of a version that this host does not know")]
    UnknownVersion,
    #[error("its signature does not fit its content: it was changed after it was signed")]
    Invalid,
}

/// Signs a component; a signature that it has is replaced.
pub fn sign(component: &[u8], key: &SigningKey) -> Result<Vec<u8>, SignatureError> {
    let (content, _) = split(component)?;
    let signature = key.sign(&message(content)).to_bytes();
    let mut signed = content.to_vec();
    // A custom section (0), its size and the length of its name.
    signed.extend([0, SECTION_SIZE, SECTION.len() as u8]);
    signed.extend(SECTION.as_bytes());
    signed.push(VERSION);
    signed.extend(key.verifying_key().to_bytes());
    signed.extend(signature);
    Ok(signed)
}

/// Returns the public key that a component is signed with, if it is.
pub fn proven_key(bytes: &[u8]) -> Result<Option<PublicKey>, SignatureError> {
    let (content, signature) = split(bytes)?;
    let Some(signature) = signature else { return Ok(None) };
    let (version, rest) = signature.split_first().ok_or(SignatureError::Malformed)?;
    if *version != VERSION {
        return Err(SignatureError::UnknownVersion);
    }
    let (key, signature) = rest.split_first_chunk::<32>().ok_or(SignatureError::Malformed)?;
    let signature = Signature::from_slice(signature).map_err(|_| SignatureError::Malformed)?;
    let verifying = VerifyingKey::from_bytes(key).map_err(|_| SignatureError::Invalid)?;
    verifying.verify_strict(&message(content), &signature).map_err(|_| SignatureError::Invalid)?;
    Ok(Some(*key))
}

fn message(content: &[u8]) -> Vec<u8> {
    [CONTEXT, &Sha256::digest(content)[..]].concat()
}

/// Returns what is signed, and the content of the signature section.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), SignatureError> {
    let mut at = PREAMBLE;
    while at < bytes.len() {
        let start = at;
        let mut rest = bytes.get(at..).ok_or(SignatureError::Malformed)?;
        let (id, after) = rest.split_first().ok_or(SignatureError::Malformed)?;
        rest = after;
        let size = leb128(&mut rest).ok_or(SignatureError::Malformed)?;
        let body = rest.get(..size).ok_or(SignatureError::Malformed)?;
        at = bytes.len() - rest.len() + size;
        if *id == 0
            && let Some(content) = signature_content(body)
        {
            return match at == bytes.len() {
                true => Ok((bytes.get(..start).ok_or(SignatureError::Malformed)?, Some(content))),
                false => Err(SignatureError::Misplaced),
            };
        }
    }
    Ok((bytes, None))
}

/// Returns the content of a custom section with the signature's name.
fn signature_content(mut body: &[u8]) -> Option<&[u8]> {
    let length = leb128(&mut body)?;
    let (name, content) = body.split_at_checked(length)?;
    (name == SECTION.as_bytes()).then_some(content)
}

/// Reads an unsigned number of at most 32 bits.
fn leb128(bytes: &mut &[u8]) -> Option<usize> {
    let mut value: u64 = 0;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component() -> Vec<u8> {
        let custom = [&[0, 5, 4][..], b"note"].concat();
        [b"\0asm\x0d\0\x01\0".as_slice(), &custom, &custom].concat()
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn public(seed: u8) -> PublicKey {
        key(seed).verifying_key().to_bytes()
    }

    #[test]
    fn a_signature_proves_the_key() {
        let unsigned = component();
        assert_eq!(proven_key(&unsigned), Ok(None));
        let signed = sign(&unsigned, &key(1)).unwrap();
        assert_eq!(proven_key(&signed), Ok(Some(public(1))));
        // Signing again replaces the signature, and gives the same bytes.
        let again = sign(&signed, &key(2)).unwrap();
        assert_eq!(proven_key(&again), Ok(Some(public(2))));
        assert_eq!(sign(&again, &key(1)).unwrap(), signed);
    }

    #[test]
    fn every_change_of_one_byte_is_noticed() {
        let signed = sign(&component(), &key(2)).unwrap();
        let intact = Ok(Some(public(2)));
        for index in PREAMBLE..signed.len() {
            for bit in 0..8 {
                let mut changed = signed.clone();
                changed[index] ^= 1 << bit;
                assert_ne!(proven_key(&changed), intact, "byte {index}, bit {bit}");
            }
        }
        for length in PREAMBLE..signed.len() {
            assert_ne!(proven_key(&signed[..length]), intact, "{length} bytes");
        }
    }

    #[test]
    fn a_signature_is_the_last_section_and_the_only_one() {
        let signed = sign(&component(), &key(2)).unwrap();
        let custom = [&[0, 5, 4][..], b"note"].concat();
        assert_eq!(proven_key(&[signed.clone(), custom].concat()), Err(SignatureError::Misplaced));
        let section = &signed[component().len()..];
        let twice = [&signed[..], section].concat();
        assert_eq!(proven_key(&twice), Err(SignatureError::Misplaced));
        let mut newer = signed.clone();
        newer[component().len() + 3 + SECTION.len()] = 2;
        assert_eq!(proven_key(&newer), Err(SignatureError::UnknownVersion));
    }
}
