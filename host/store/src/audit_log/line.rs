//! The lines of an export of the audit log: all that is needed to verify it elsewhere.

use super::{checkpoint::Checkpoint, entry::AuditEntry};
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};

/// A line of an export: first the export itself, then the keys, the checkpoints by node and number, and the
/// rows by their numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AuditLine {
    /// When the export was made, and from when its rows are.
    Export {
        at: Timestamp,
        since: Option<Timestamp>,
    },
    /// A key that signs checkpoints; `public_key` in hexadecimal digits.
    Key {
        id: String,
        public_key: String,
    },
    Checkpoint(Checkpoint),
    Row(Box<AuditEntry>),
}
