//! The faults of an export of the audit log.

use super::{
    checkpoint::Checkpoint,
    entry::AuditEntry,
    leaf::{ERASED_AGENT, ERASED_OWNER, Hash, commitment, leaf},
    line::AuditLine,
};
use ed25519_dalek::VerifyingKey;
use portolan_vocabulary::{Timestamp, from_hex};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The time within which each row has a checkpoint.
const SEALED_WITHIN: Duration = Duration::from_secs(60);

/// A fault of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    #[error("row changed: row {seq} is not what {node} has signed as its row {position}")]
    RowChanged { seq: i64, node: String, position: u64 },
    #[error("row missing: row {position} of {node}, written by {at}, is not in the log")]
    RowMissing { node: String, position: u64, at: Timestamp },
    #[error("row added: no node has signed row {seq}")]
    RowAdded { seq: i64 },
    #[error(
        "checkpoint missing: {node} has signed checkpoints {first} to {last}, which are not there"
    )]
    CheckpointMissing { node: String, first: u64, last: u64 },
    #[error("checkpoint changed: checkpoint {number} of {node} does not follow the one before")]
    CheckpointChanged { node: String, number: u64 },
    #[error("signature wrong: checkpoint {number} of {node} is not signed by a known key")]
    SignatureWrong { node: String, number: u64 },
}

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct AuditReport {
    pub faults: Vec<AuditFault>,
    pub nodes: usize,
    pub checkpoints: u64,
    /// The number of rows that are as they were signed.
    pub rows: u64,
    /// The number of those of erased people.
    pub erased: u64,
    /// The number of signed rows that are no longer there because their retention is over.
    pub expired: u64,
    /// The number of rows of an earlier version, which nobody has signed.
    pub unsigned: u64,
    /// The number of rows of the last minute whose checkpoint is not there yet.
    pub waiting: u64,
}

/// A verification in progress. It takes the lines of an export in their order.
#[derive(Debug, Default)]
pub struct AuditVerifier {
    /// The only keys that are trusted, if there are any.
    trusted: Vec<String>,
    keys: BTreeMap<String, VerifyingKey>,
    exported_at: Timestamp,
    since: Timestamp,
    expired_before: Timestamp,
    nodes: BTreeMap<String, NodeLog>,
    report: AuditReport,
}

/// The signed log of a node.
#[derive(Debug)]
struct NodeLog {
    /// The first checkpoint in the export.
    begin: Checkpoint,
    head: Checkpoint,
    checkpoints: Vec<Signed>,
    seen: BTreeSet<u64>,
}

/// The rows of a checkpoint.
#[derive(Debug)]
struct Signed {
    first: u64,
    oldest_at: Timestamp,
    at: Timestamp,
    leaves: Vec<Hash>,
}

impl NodeLog {
    fn find(&self, position: u64) -> Option<&Hash> {
        let after = self.checkpoints.partition_point(|signed| signed.first <= position);
        let signed = self.checkpoints.get(after.checked_sub(1)?)?;
        signed.leaves.get(usize::try_from(position - signed.first).ok()?)
    }
}

impl AuditVerifier {
    /// Begins a verification that trusts these public keys, in hexadecimal digits, or those of the export if
    /// there are none.
    pub fn new(trusted: Vec<String>) -> Self {
        Self { trusted, ..Self::default() }
    }

    pub fn add(&mut self, line: AuditLine) {
        match line {
            AuditLine::Export { at, since } => {
                self.exported_at = at;
                self.since = since.unwrap_or_default();
            }
            AuditLine::Key { id, public_key } => self.add_key(id, &public_key),
            AuditLine::Checkpoint(checkpoint) => self.add_checkpoint(checkpoint),
            AuditLine::Row(row) => self.add_row(&row),
        }
    }

    /// Ends the verification: signed rows that have not come are missing.
    pub fn finish(mut self) -> AuditReport {
        self.report.nodes = self.nodes.len();
        let gone_before = self.expired_before.max(self.since);
        for (node, log) in &self.nodes {
            let begin = &log.begin;
            if begin.number > 1 && begin.previous_at.is_none_or(|at| at > gone_before) {
                let (node, last) = (node.clone(), begin.number - 1);
                self.report.faults.push(AuditFault::CheckpointMissing { node, first: 1, last });
            }
            for signed in &log.checkpoints {
                let positions = (signed.first..).take(signed.leaves.len());
                for position in positions.filter(|position| !log.seen.contains(position)) {
                    if signed.oldest_at <= gone_before {
                        self.report.expired += 1;
                    } else {
                        let (node, at) = (node.clone(), signed.at);
                        self.report.faults.push(AuditFault::RowMissing { node, position, at });
                    }
                }
            }
        }
        self.report
    }

    fn add_key(&mut self, id: String, public_key: &str) {
        let is_trusted =
            self.trusted.is_empty() || self.trusted.iter().any(|key| key == public_key);
        let key =
            from_hex(public_key).and_then(|bytes| VerifyingKey::try_from(bytes.as_slice()).ok());
        if let Some(key) = key.filter(|_| is_trusted) {
            self.keys.insert(id, key);
        }
    }

    fn add_checkpoint(&mut self, checkpoint: Checkpoint) {
        self.report.checkpoints += 1;
        let (node, number) = (checkpoint.node.clone(), checkpoint.number);
        let key = self.keys.get(&checkpoint.key_id);
        let leaves = if key.is_some_and(|key| checkpoint.is_signed_by(key)) {
            self.expired_before = self.expired_before.max(checkpoint.expired_before);
            let leaves = checkpoint.verified_leaves();
            if leaves.is_none() {
                let node = node.clone();
                self.report.faults.push(AuditFault::CheckpointChanged { node, number });
            }
            leaves
        } else {
            self.report.faults.push(AuditFault::SignatureWrong { node: node.clone(), number });
            None
        };
        let signed = Signed {
            first: checkpoint.first,
            oldest_at: checkpoint.oldest_at,
            at: checkpoint.at,
            leaves: leaves.unwrap_or_default(),
        };
        let Some(log) = self.nodes.get_mut(&node) else {
            let log = NodeLog {
                begin: checkpoint.clone(),
                head: checkpoint,
                checkpoints: vec![signed],
                seen: BTreeSet::new(),
            };
            self.nodes.insert(node, log);
            return;
        };
        let head = &log.head;
        if number > head.number + 1 {
            let (first, last) = (head.number + 1, number - 1);
            self.report.faults.push(AuditFault::CheckpointMissing { node, first, last });
        } else if checkpoint.previous != head.hash() || checkpoint.first != head.last + 1 {
            self.report.faults.push(AuditFault::CheckpointChanged { node, number });
        }
        log.head = checkpoint;
        log.checkpoints.push(signed);
    }

    fn add_row(&mut self, row: &AuditEntry) {
        let report = &mut self.report;
        if row.node.is_empty() {
            // Rows are numbered as they are written, so those of an earlier version come first.
            match report.rows == 0 && self.nodes.values().all(|log| log.seen.is_empty()) {
                true => report.unsigned += 1,
                false => report.faults.push(AuditFault::RowAdded { seq: row.seq }),
            }
            return;
        }
        let (seq, position) = (row.seq, row.position);
        let log = self.nodes.get_mut(&row.node);
        let sealed_until = log.as_ref().map_or(0, |log| log.head.last);
        let Some((log, expected)) = log.and_then(|log| {
            let expected = *log.find(position)?;
            Some((log, expected))
        }) else {
            let is_new = row.record.at.plus(SEALED_WITHIN) >= self.exported_at;
            match position > sealed_until {
                true if is_new => report.waiting += 1,
                true => report.faults.push(AuditFault::RowAdded { seq }),
                // Its checkpoint is a fault already, or older than the export.
                false => {}
            }
            return;
        };
        if !log.seen.insert(position) {
            report.faults.push(AuditFault::RowAdded { seq });
        } else if hash(row) == Some(expected) {
            report.rows += 1;
            report.erased += u64::from(row.salt.is_none());
        } else {
            let node = row.node.clone();
            report.faults.push(AuditFault::RowChanged { seq, node, position });
        }
    }
}

/// Returns the hash of a row; `None` if it can be of no row that a node has written.
fn hash(row: &AuditEntry) -> Option<Hash> {
    let record = &row.record;
    let commitment = match (&row.salt, &row.commitment) {
        (Some(salt), None) => commitment(salt, record),
        // After an erasure, nothing that is personal may be left.
        (None, Some(commitment))
            if record.agent_id.as_deref().is_none_or(|id| id == ERASED_AGENT)
                && record.owner_id.as_deref().is_none_or(|id| id == ERASED_OWNER)
                && record.client_id.is_none()
                && record.address.is_none() =>
        {
            commitment.clone()
        }
        _ => return None,
    };
    Some(leaf(&row.node, row.position, &commitment, record))
}
