//! Signatures of components: the custom section that holds one, and the keys that make them.
//!
//! A signature is the last section of a component, a custom section named `portolan-signature`. Its content
//! is a version (one byte, 1), the public key (32 bytes) and an Ed25519 signature (64 bytes) of the text
//! `portolan component signature v1`, a zero byte, and the SHA-256 of everything before the section. If the
//! signing key succeeds other keys, the section before it, named `portolan-succession`, proves that.

mod key;
mod succession;

pub use ed25519_dalek::SigningKey;
pub use key::{KeyError, PublicKey, create_key, read_key, user_key};
pub use succession::Succession;

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use sha2::{Digest as _, Sha256};

const SECTION: &str = "portolan-signature";
const SUCCESSION: &str = "portolan-succession";
const CONTEXT: &[u8] = b"portolan component signature v1\0";
const VERSION: u8 = 1;
/// The bytes before the first section: `\0asm` and the version.
const PREAMBLE: usize = 8;

/// The reason why a signature cannot be read or is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("its sections cannot be read")]
    Malformed,
    #[error(
        "it has a signature that is not its last section, a succession of keys that is not the section before the signature, or more than one of them"
    )]
    Misplaced,
    #[error("its signature is of a version that this host does not know")]
    UnknownVersion,
    #[error("its signature does not fit its content: it was changed after it was signed")]
    Invalid,
    #[error("its key's succession of other keys is not signed by them")]
    InvalidSuccession,
}

/// The signer of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    pub key: PublicKey,
    /// The keys that the signing key succeeds, the oldest first.
    pub predecessors: Vec<PublicKey>,
}

/// Signs a component; a signature that it has is replaced.
pub fn sign(
    component: &[u8],
    key: &SigningKey,
    succession: &Succession,
) -> Result<Vec<u8>, SignatureError> {
    let public = key.verifying_key().to_bytes();
    succession.predecessors(&public)?;
    let mut signed = split(component)?.component.to_vec();
    if !succession.is_empty() {
        signed.extend(custom_section(SUCCESSION, &succession.encode()));
    }
    let signature = key.sign(&message(&signed)).to_bytes();
    let content = [&[VERSION][..], &public, &signature].concat();
    signed.extend(custom_section(SECTION, &content));
    Ok(signed)
}

/// Returns the signer of a component, or `None` if it has no signature. Fails if the signature is
/// not valid.
pub fn signer(bytes: &[u8]) -> Result<Option<Signer>, SignatureError> {
    let Parts { succession, signed, signature, .. } = split(bytes)?;
    let Some(signature) = signature else { return Ok(None) };
    let (version, rest) = signature.split_first().ok_or(SignatureError::Malformed)?;
    if *version != VERSION {
        return Err(SignatureError::UnknownVersion);
    }
    let (key, signature) = rest.split_first_chunk::<32>().ok_or(SignatureError::Malformed)?;
    let signature = Signature::from_slice(signature).map_err(|_| SignatureError::Malformed)?;
    let verifying = VerifyingKey::from_bytes(key).map_err(|_| SignatureError::Invalid)?;
    verifying.verify_strict(&message(signed), &signature).map_err(|_| SignatureError::Invalid)?;
    let predecessors = match succession {
        Some(statements) => Succession::decode(statements)?.predecessors(key)?,
        None => Vec::new(),
    };
    Ok(Some(Signer { key: *key, predecessors }))
}

fn message(content: &[u8]) -> Vec<u8> {
    [CONTEXT, &Sha256::digest(content)[..]].concat()
}

/// The parts of a component's bytes.
struct Parts<'a> {
    /// The component without the signature's section and the succession's.
    component: &'a [u8],
    /// The content of the succession's section.
    succession: Option<&'a [u8]>,
    /// Everything before the signature's section.
    signed: &'a [u8],
    /// The content of the signature's section.
    signature: Option<&'a [u8]>,
}

fn split(bytes: &[u8]) -> Result<Parts<'_>, SignatureError> {
    let mut at = PREAMBLE;
    let mut succession = None;
    while at < bytes.len() {
        let start = at;
        let mut rest = bytes.get(at..).ok_or(SignatureError::Malformed)?;
        let (id, after) = rest.split_first().ok_or(SignatureError::Malformed)?;
        rest = after;
        let size = leb128(&mut rest).ok_or(SignatureError::Malformed)?;
        let body = rest.get(..size).ok_or(SignatureError::Malformed)?;
        at = bytes.len() - rest.len() + size;
        let before = bytes.get(..start).ok_or(SignatureError::Malformed)?;
        let named = |name| if *id == 0 { custom_content(body, name) } else { None };
        match (named(SUCCESSION), named(SECTION), succession) {
            (Some(content), None, None) => succession = Some((before, content)),
            (None, Some(content), _) if at == bytes.len() => {
                return Ok(Parts {
                    component: succession.map_or(before, |(component, _)| component),
                    succession: succession.map(|(_, content)| content),
                    signed: before,
                    signature: Some(content),
                });
            }
            (None, None, None) => {}
            _ => return Err(SignatureError::Misplaced),
        }
    }
    match succession {
        Some(_) => Err(SignatureError::Misplaced),
        None => Ok(Parts { component: bytes, succession: None, signed: bytes, signature: None }),
    }
}

/// Returns the content of a custom section, if it has this name. `body` begins with the name.
fn custom_content<'a>(mut body: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let length = leb128(&mut body)?;
    let (name, content) = body.split_at_checked(length)?;
    (name == wanted.as_bytes()).then_some(content)
}

/// Returns a custom section (0): its size, the length of its name, the name and the content. The name is
/// shorter than 128 bytes.
fn custom_section(name: &str, content: &[u8]) -> Vec<u8> {
    let mut section = vec![0];
    let mut size = 1 + name.len() + content.len();
    while size >= 0x80 {
        section.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    section.extend([size as u8, name.len() as u8]);
    section.extend(name.as_bytes());
    section.extend(content);
    section
}

/// Reads an unsigned LEB128 number of at most five bytes, and advances `bytes` beyond it. Returns
/// `None` if the number is longer or incomplete.
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

    fn alone(component: &[u8], seed: u8) -> Vec<u8> {
        sign(component, &key(seed), &Succession::default()).unwrap()
    }

    fn signed_by(seed: u8) -> Result<Option<Signer>, SignatureError> {
        Ok(Some(Signer { key: public(seed), predecessors: Vec::new() }))
    }

    fn public(seed: u8) -> PublicKey {
        key(seed).verifying_key().to_bytes()
    }

    #[test]
    fn a_signature_proves_the_key() {
        let unsigned = component();
        assert_eq!(signer(&unsigned), Ok(None));
        let signed = alone(&unsigned, 1);
        assert_eq!(signer(&signed), signed_by(1));
        // Signing again replaces the signature, and gives the same bytes.
        let again = alone(&signed, 2);
        assert_eq!(signer(&again), signed_by(2));
        assert_eq!(alone(&again, 1), signed);
    }

    #[test]
    fn every_change_of_one_byte_is_noticed() {
        let signed = alone(&component(), 2);
        let intact = signed_by(2);
        for index in PREAMBLE..signed.len() {
            for bit in 0..8 {
                let mut changed = signed.clone();
                changed[index] ^= 1 << bit;
                assert_ne!(signer(&changed), intact, "byte {index}, bit {bit}");
            }
        }
        for length in PREAMBLE..signed.len() {
            assert_ne!(signer(&signed[..length]), intact, "{length} bytes");
        }
    }

    #[test]
    fn a_signature_is_the_last_section_and_the_only_one() {
        let signed = alone(&component(), 2);
        let custom = [&[0, 5, 4][..], b"note"].concat();
        assert_eq!(signer(&[signed.clone(), custom].concat()), Err(SignatureError::Misplaced));
        let section = &signed[component().len()..];
        let twice = [&signed[..], section].concat();
        assert_eq!(signer(&twice), Err(SignatureError::Misplaced));
        let mut newer = signed.clone();
        newer[component().len() + 3 + SECTION.len()] = 2;
        assert_eq!(signer(&newer), Err(SignatureError::UnknownVersion));
    }

    #[test]
    fn a_succession_proves_the_keys_before() {
        let first = Succession::default().followed(&key(1), &public(2)).unwrap();
        let second = first.clone().followed(&key(2), &public(3)).unwrap();
        let signed = sign(&component(), &key(3), &second).unwrap();
        let expected = Signer { key: public(3), predecessors: vec![public(1), public(2)] };
        assert_eq!(signer(&signed), Ok(Some(expected)));
        // Signing again replaces both sections.
        assert_eq!(alone(&signed, 1), alone(&component(), 1));
        // The statements are not valid for another key, nor if one of them is missing.
        let invalid = Err(SignatureError::InvalidSuccession);
        assert_eq!(sign(&component(), &key(4), &second), invalid);
        assert_eq!(sign(&component(), &key(3), &first), invalid);
        // A succession without a signature, as the last section and before another one.
        let section = custom_section(SUCCESSION, &first.encode());
        let unsigned = [component(), section.clone()].concat();
        assert_eq!(signer(&unsigned), Err(SignatureError::Misplaced));
        let other = [component(), section, component()[PREAMBLE..].to_vec()].concat();
        assert_eq!(signer(&other), Err(SignatureError::Misplaced));
    }

    #[test]
    fn a_succession_is_kept_beside_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.key");
        assert_eq!(Succession::read(&path).unwrap(), Succession::default());
        let succession = Succession::default().followed(&key(1), &public(2)).unwrap();
        let file = succession.write(&path).unwrap();
        assert_eq!(Succession::read(&path).unwrap(), succession);
        std::fs::write(file, "01").unwrap();
        assert!(matches!(Succession::read(&path), Err(KeyError::NotASuccession(_))));
    }
}
