//! A private key of the host, as it is used.

use portolan_vocabulary::Timestamp;

/// An opened signing key, which is cleared from memory when it is dropped. It has no `Debug`, so that its
/// private part is not written to logs.
pub struct SigningKey {
    /// The `kid` of its signatures.
    pub id: String,
    pub private: ed25519_dalek::SigningKey,
    pub created_at: Timestamp,
}
