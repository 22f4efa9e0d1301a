//! The rows that a node has written to the audit log since its last checkpoint.
//!
//! The hashes are computed from the records as they are written, never from what the database says, so a row
//! that is changed or added before its checkpoint is noticed too.

use super::{
    checkpoint::Checkpoint,
    leaf::{Hash, Seal},
};
use crate::{effects::AuditRecord, signing_key::SigningKey};
use portolan_vocabulary::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The maximum number of rows of one checkpoint.
const CHECKPOINT_ROWS: usize = 4_096;

/// The last checkpoint of a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) number: u64,
    pub(crate) hash: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) last: u64,
}

impl From<&Checkpoint> for Head {
    fn from(checkpoint: &Checkpoint) -> Self {
        Self {
            number: checkpoint.number,
            hash: checkpoint.hash(),
            at: Some(checkpoint.at),
            last: checkpoint.last,
        }
    }
}

/// The state of the node's log; `None` until it is opened. Rows that are written before have no node.
#[derive(Default)]
pub(crate) struct AuditChain {
    log: Mutex<Option<Log>>,
    /// Notified when there are rows to seal.
    pub(crate) written: Notify,
    /// Held while a checkpoint is made and stored.
    pub(crate) sealing: tokio::sync::Mutex<()>,
}

struct Log {
    node: String,
    key: SigningKey,
    head: Head,
    /// The hashes and times of the rows after the head.
    rows: Vec<(Hash, Timestamp)>,
    /// The rows of a transaction that has not been confirmed.
    reserved: Vec<(Hash, Timestamp)>,
    expired_before: Timestamp,
    /// A checkpoint that may have been stored already.
    draft: Option<Checkpoint>,
}

impl std::fmt::Debug for AuditChain {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AuditChain").finish_non_exhaustive()
    }
}

impl AuditChain {
    /// Opens the log of this node, after its last checkpoint, with the rows that the node could not seal
    /// before it ended.
    pub(crate) fn open(
        &self,
        node: String,
        key: SigningKey,
        head: Head,
        rows: Vec<(Hash, Timestamp)>,
    ) {
        let (reserved, expired_before) = (Vec::new(), Timestamp::default());
        *self.log() = Some(Log { node, key, head, rows, reserved, expired_before, draft: None });
        self.written.notify_one();
    }

    /// Assigns the next positions to rows that are about to be written. Returns `None` for each if the log is
    /// not open.
    pub(crate) fn reserve(&self, records: &[&AuditRecord]) -> Vec<Option<Seal>> {
        let mut log = self.log();
        let Some(log) = &mut *log else { return records.iter().map(|_| None).collect() };
        let next = log.next_position();
        log.reserved.clear();
        let seal = |(index, record): (usize, &&AuditRecord)| {
            let seal = Seal::new(&log.node, next + index as u64);
            log.reserved.push((seal.leaf(record), record.at));
            Some(seal)
        };
        records.iter().enumerate().map(seal).collect()
    }

    /// Takes over the rows of a transaction that was committed.
    pub(crate) fn confirm(&self) {
        if let Some(log) = &mut *self.log()
            && !log.reserved.is_empty()
        {
            let mut reserved = std::mem::take(&mut log.reserved);
            log.rows.append(&mut reserved);
            self.written.notify_one();
        }
    }

    /// Returns the id of this node; `None` until its log is open.
    pub(crate) fn node(&self) -> Option<String> {
        self.log().as_ref().map(|log| log.node.clone())
    }

    /// Returns the node if it is not known whether its last transaction was committed.
    pub(crate) fn unconfirmed(&self) -> Option<String> {
        let log = self.log();
        log.as_ref().filter(|log| !log.reserved.is_empty()).map(|log| log.node.clone())
    }

    /// Takes over the rows of the transaction that is not confirmed if the database has them: `last` is the
    /// last position of this node in it.
    pub(crate) fn settle(&self, last: u64) {
        let was_committed = match &mut *self.log() {
            Some(log) => {
                let was_committed = last >= log.next_position();
                if !was_committed {
                    log.reserved.clear();
                }
                was_committed
            }
            None => false,
        };
        if was_committed {
            self.confirm();
        }
    }

    /// Returns the checkpoint to store next, if there are rows to seal or the retention has moved to this
    /// time.
    pub(crate) fn draft(
        &self,
        now: Timestamp,
        expired_before: Option<Timestamp>,
    ) -> Option<Checkpoint> {
        let mut log = self.log();
        let log = log.as_mut()?;
        if let Some(draft) = &log.draft {
            return Some(draft.clone());
        }
        let has_moved = expired_before.is_some_and(|before| before > log.expired_before);
        if log.rows.is_empty() && !has_moved {
            return None;
        }
        log.expired_before = log.expired_before.max(expired_before.unwrap_or_default());
        let rows = log.rows.get(..CHECKPOINT_ROWS).unwrap_or(&log.rows);
        let leaves: Vec<Hash> = rows.iter().map(|(leaf, _)| *leaf).collect();
        let checkpoint = Checkpoint {
            node: log.node.clone(),
            number: log.head.number + 1,
            first: log.head.last + 1,
            last: log.head.last + leaves.len() as u64,
            oldest_at: rows.iter().map(|(_, at)| *at).min().unwrap_or(now),
            at: now,
            expired_before: log.expired_before,
            previous: log.head.hash.clone(),
            previous_at: log.head.at,
            root: String::new(),
            key_id: String::new(),
            signature: String::new(),
            leaves: Vec::new(),
        };
        let checkpoint = checkpoint.sign(&leaves, &log.key);
        log.draft = Some(checkpoint.clone());
        Some(checkpoint)
    }

    /// Goes on after a checkpoint that was stored.
    pub(crate) fn sealed(&self, checkpoint: &Checkpoint) {
        if let Some(log) = &mut *self.log() {
            log.rows.drain(..checkpoint.leaves.len().min(log.rows.len()));
            log.head = Head::from(checkpoint);
            log.draft = None;
        }
    }

    fn log(&self) -> MutexGuard<'_, Option<Log>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn next_position(&self) -> u64 {
        self.head.last + self.rows.len() as u64 + 1
    }
}
