//! A signed checkpoint of a node's audit log.

use super::{
    leaf::{Hash, hex},
    tree::root,
};
use crate::signing_key::SigningKey;
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use portolan_vocabulary::{Timestamp, from_hex};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// A node's signed statement about its rows from `first` to `last`; of none if `first` is `last + 1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub node: String,
    /// From 1, without gaps.
    pub number: u64,
    pub first: u64,
    pub last: u64,
    /// The earliest time of the rows; that of the checkpoint if it has none.
    pub oldest_at: Timestamp,
    pub at: Timestamp,
    /// Rows and checkpoints before this time may have been deleted, because their retention was over.
    pub expired_before: Timestamp,
    /// The hash of the node's checkpoint before, in hexadecimal digits, and its time; empty for the first one.
    pub previous: String,
    pub previous_at: Option<Timestamp>,
    /// The root of the rows' hashes, in hexadecimal digits.
    pub root: String,
    pub key_id: String,
    /// In hexadecimal digits.
    pub signature: String,
    /// The rows' hashes, in hexadecimal digits. They tell which row was changed; the root is what is signed.
    pub leaves: Vec<String>,
}

impl Checkpoint {
    /// Completes a checkpoint by the root of these hashes and the signature.
    pub(super) fn sign(mut self, leaves: &[Hash], key: &SigningKey) -> Self {
        self.root = hex(&root(leaves));
        self.leaves = leaves.iter().map(|leaf| hex(leaf)).collect();
        self.key_id.clone_from(&key.id);
        self.signature = hex(&key.private.sign(self.signed_text().as_bytes()).to_bytes());
        self
    }

    /// Returns the hash that the node's next checkpoint contains.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.signed_text()))
    }

    pub(super) fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        let signature =
            from_hex(&self.signature).and_then(|bytes| Signature::from_slice(&bytes).ok());
        signature.is_some_and(|signature| {
            key.verify_strict(self.signed_text().as_bytes(), &signature).is_ok()
        })
    }

    /// Returns the rows' hashes, if they are those that were signed.
    pub(super) fn verified_leaves(&self) -> Option<Vec<Hash>> {
        let leaf = |leaf: &String| from_hex(leaf)?.try_into().ok();
        let leaves: Vec<Hash> = self.leaves.iter().map(leaf).collect::<Option<_>>()?;
        let count = (self.last + 1).checked_sub(self.first)?;
        (leaves.len() as u64 == count && hex(&root(&leaves)) == self.root).then_some(leaves)
    }

    fn signed_text(&self) -> String {
        json!([
            "portolan audit checkpoint 1",
            self.node,
            self.number,
            self.first,
            self.last,
            self.oldest_at.as_millis(),
            self.at.as_millis(),
            self.expired_before.as_millis(),
            self.previous,
            self.previous_at.map(Timestamp::as_millis),
            self.root,
            self.key_id,
        ])
        .to_string()
    }
}
