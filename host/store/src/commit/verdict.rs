//! How commits end.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// How a unit's commit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is on disk.
    Committed,
    /// Something it read has changed; nothing was written. Run the call again.
    Conflict(ConflictKey),
    /// The timer or the delivery it ran for is no longer to be done; nothing was written.
    Superseded,
}

/// Where a conflict was: the same number for the same document or value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConflictKey(pub u64);

impl ConflictKey {
    pub(super) fn of(key: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self(hasher.finish())
    }
}
