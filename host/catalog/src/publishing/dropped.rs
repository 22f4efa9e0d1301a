//! A version that serves from the catalog folder and is not in the history yet.

use crate::capability::Capability;
use portolan_vocabulary::Timestamp;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct DroppedVersion {
    pub(crate) file: String,
    pub(crate) capability: Arc<Capability>,
    pub(crate) at: Timestamp,
    /// The changes that break callers of the previous version.
    pub(crate) breaking: Vec<String>,
    /// Whether the file was there when the host started.
    pub(crate) at_start: bool,
}
