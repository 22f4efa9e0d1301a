//! The retention of the host's records.

use serde::{Deserialize, Serialize};

/// The retention of the host's records, in days.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// How long rows of the audit log are kept.
    pub audit_days: u64,
    /// How long events are kept, whether they were acknowledged or not.
    pub event_days: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { audit_days: 90, event_days: 30 }
    }
}
