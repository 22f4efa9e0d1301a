//! The usage of a capability: how much its documents and timers take of its quotas.

use portolan_vocabulary::{Quota, Quotas};
use std::{
    ops::{AddAssign, SubAssign},
    time::Duration,
};

/// How much a capability's documents and timers take in one mode, or by how much that changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub documents: i64,
    pub tombstones: i64,
    /// The bytes of the ids and bodies of documents, and of the names, actions and inputs of timers.
    pub bytes: i64,
    pub timers: i64,
}

/// The limit that a unit of work would exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceededQuota {
    pub capability: String,
    pub quota: Quota,
    pub limit: u64,
    /// For a limit per minute or day, the time until the same unit is within the limit.
    pub wait: Option<Duration>,
}

/// Returns the scope: the name under which the database keeps what a capability has in this mode.
pub(crate) fn scope(capability: &str, test_mode: bool) -> String {
    // No capability's id has a space, so no scope equals the id of another capability.
    let mode = if test_mode { TEST_MODE } else { "" };
    format!("{capability}{mode}")
}

/// Returns the capability of a scope.
pub(crate) fn capability_of(scope: &str) -> &str {
    scope.strip_suffix(TEST_MODE).unwrap_or(scope)
}

const TEST_MODE: &str = " (test)";

impl Usage {
    /// The quotas that limit what is stored.
    pub const QUOTAS: [Quota; 4] =
        [Quota::Documents, Quota::DocumentsAndTombstones, Quota::Bytes, Quota::Timers];

    /// Returns the amount that counts towards a quota; 0 for a quota that does not limit what is stored.
    pub fn of(&self, quota: Quota) -> i64 {
        match quota {
            Quota::Documents => self.documents,
            Quota::DocumentsAndTombstones => self.documents + self.tombstones,
            Quota::Bytes => self.bytes,
            Quota::Timers => self.timers,
            Quota::OwnerDocumentsPerDay
            | Quota::OwnerBytesPerDay
            | Quota::EventBytesPerDay
            | Quota::InboxEventsPerMinute
            | Quota::LogBytesPerMinute
            | Quota::QueryMs => 0,
        }
    }

    /// Returns a quota that this usage would exceed if it grew by `more`. An amount that does not grow never
    /// exceeds its quota, even if it is above the limit already.
    pub(crate) fn find_exceeded(
        &self,
        more: &Self,
        capability: &str,
        quotas: &Quotas,
    ) -> Option<ExceededQuota> {
        Self::QUOTAS.into_iter().find_map(|quota| {
            let limit = quotas.limit(capability, quota)?;
            let after = self.of(quota) + more.of(quota);
            let exceeds = more.of(quota) > 0 && u64::try_from(after).is_ok_and(|n| n > limit);
            let exceeded =
                || ExceededQuota { capability: capability.to_owned(), quota, limit, wait: None };
            exceeds.then(exceeded)
        })
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.documents += more.documents;
        self.tombstones += more.tombstones;
        self.bytes += more.bytes;
        self.timers += more.timers;
    }
}

impl SubAssign for Usage {
    fn sub_assign(&mut self, less: Self) {
        self.documents -= less.documents;
        self.tombstones -= less.tombstones;
        self.bytes -= less.bytes;
        self.timers -= less.timers;
    }
}
