//! Secrets this host gives out: 256 random bits, kept as a SHA-256 hash.
//!
//! A slow hash is for secrets that people choose; these cannot be guessed.

use crate::IdentityError;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_vocabulary::Digest;
use subtle::ConstantTimeEq as _;

/// The prefix of a client key, which secret scanners look for.
pub(super) const CLIENT_KEY: &str = "svc_ak_";
pub(super) const TEST_CLIENT_KEY: &str = "svc_ak_test_";

/// A new secret: the prefix and 43 URL-safe characters.
pub(super) fn new(prefix: &str) -> Result<String, IdentityError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(IdentityError::Random)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

pub(super) fn hash(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

/// Takes the same time wherever the difference is.
pub(super) fn matches(presented: &str, kept: &str) -> bool {
    hash(presented).hex().as_bytes().ct_eq(kept.as_bytes()).into()
}

pub(super) fn random() -> Result<u128, IdentityError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(IdentityError::Random)?;
    Ok(u128::from_le_bytes(bytes))
}
