//! A row of the audit log as it is stored.

use crate::effects::AuditRecord;
use serde::{Deserialize, Serialize};

/// A row of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The number of the row; rows are numbered in the order in which they were written.
    pub seq: i64,
    #[serde(flatten)]
    pub record: AuditRecord,
    /// The node that wrote the row; empty in a row of an earlier version.
    pub node: String,
    /// The number of the row in the log of its node.
    pub position: u64,
    /// The salt of the hash of what is personal in the row.
    pub salt: Option<String>,
    /// The hash of what is personal, in the row of an erased person, which has no salt.
    pub commitment: Option<String>,
}
