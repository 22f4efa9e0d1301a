//! The hash of a row of the audit log.

use crate::effects::AuditRecord;
use portolan_vocabulary::entropy;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// A SHA-256 hash.
pub(crate) type Hash = [u8; 32];

/// The ids in place of those of an erased agent and an erased owner.
pub(crate) const ERASED_AGENT: &str = "agt_00000000000000000000000000";
pub(crate) const ERASED_OWNER: &str = "own_00000000000000000000000000";

/// The prefix of a row's hash; the hash of two subtrees has another one (RFC 9162, section 2.1.1).
const LEAF: u8 = 0;

/// A row's place in the log of its node, and the salt of what is personal in it.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    pub(crate) node: String,
    pub(crate) position: u64,
    pub(crate) salt: String,
}

impl Seal {
    pub(crate) fn new(node: &str, position: u64) -> Self {
        Self { node: node.to_owned(), position, salt: hex(&entropy::<16>()) }
    }

    pub(crate) fn leaf(&self, record: &AuditRecord) -> Hash {
        leaf(&self.node, self.position, &commitment(&self.salt, record), record)
    }
}

/// Returns the salted hash of what is personal in a row. The row has it in place of the salt after an
/// erasure.
pub(crate) fn commitment(salt: &str, record: &AuditRecord) -> String {
    let AuditRecord { agent_id, owner_id, client_id, address, .. } = record;
    hex(&Sha256::digest(json!([salt, agent_id, owner_id, client_id, address]).to_string()))
}

/// Returns the hash of a row.
pub(crate) fn leaf(node: &str, position: u64, commitment: &str, record: &AuditRecord) -> Hash {
    let row = json!([
        "portolan audit row 1",
        node,
        position,
        commitment,
        record.at.as_millis(),
        record.request_id,
        record.via,
        record.capability,
        record.version,
        record.digest,
        record.action,
        record.outcome,
        record.duration_us,
        record.count,
    ]);
    Sha256::new().chain_update([LEAF]).chain_update(row.to_string()).finalize().into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
