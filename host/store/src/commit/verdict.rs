//! The outcomes of a commit.

use crate::usage::ExceededQuota;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// The outcome of a unit's commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The unit is on disk.
    Committed,
    /// The read set has changed; nothing was written. The call can be run again.
    Conflict(ConflictKey),
    /// The timer or the delivery that the unit ran for was done, changed or removed meanwhile; nothing was
    /// written.
    Superseded,
    /// A newer version of a capability has its documents in another generation of the collection, or soon
    /// will; nothing was written. The call can be run again by that version.
    Replaced,
    /// The unit names a person who is erased; nothing was written.
    Erased,
    /// The unit would exceed a quota; nothing was written.
    QuotaExceeded(ExceededQuota),
}

/// The document or key on which a commit failed, as a hash that is equal for equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConflictKey(pub u64);

impl ConflictKey {
    pub(super) fn of(key: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self(hasher.finish())
    }
}
