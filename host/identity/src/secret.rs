//! Secrets that this host issues: 256 random bits, stored as a SHA-256 hash.
//!
//! They cannot be guessed, so they do not need a slow hash, as secrets that people choose would.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_vocabulary::{Digest, entropy};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The prefix of a client key. Secret scanners look for it.
pub(crate) const CLIENT_KEY: &str = "svc_ak_";
pub(crate) const TEST_CLIENT_KEY: &str = "svc_ak_test_";

/// The prefix of an operator's token.
pub(crate) const OPERATOR_TOKEN: &str = "ptl_op_";

/// Makes a new secret: the prefix and 43 URL-safe characters.
pub(crate) fn new(prefix: &str) -> String {
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(*Zeroizing::new(entropy::<32>())))
}

pub(crate) fn hash(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

/// Returns whether the stored hash is that of the presented secret. The comparison takes constant
/// time.
pub(crate) fn matches(presented: &str, stored_hash: &str) -> bool {
    hash_matches(&hash(presented), stored_hash)
}

/// Returns whether this is the stored hash. The comparison takes constant time.
pub(crate) fn hash_matches(presented: &Digest, stored_hash: &str) -> bool {
    presented.hex().as_bytes().ct_eq(stored_hash.as_bytes()).into()
}

/// Draws the random part of an identifier.
pub(crate) fn random() -> u128 {
    u128::from_le_bytes(entropy())
}
