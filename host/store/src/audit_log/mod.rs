//! The sealed audit log, in which a changed, missing or added row is noticed.
//!
//! Each node numbers its rows and signs the hashes of its new rows about once a second, as the root of a
//! Merkle tree in a checkpoint that contains the hash of the node's checkpoint before. Nothing here reads or
//! writes the database.
//!
//! The modules in reading order:
//!
//! - `leaf`: the hash of a row, in which what is personal is a salted hash.
//! - `tree`: the root of the hashes (RFC 9162, section 2.1.1).
//! - `checkpoint`: a signed checkpoint.
//! - `chain`: what a node has written since its last checkpoint.
//! - `entry`, `line`: a row as it is stored, and the lines of an export.
//! - `verify`: the faults of an export.

mod chain;
mod checkpoint;
mod entry;
mod leaf;
mod line;
mod tree;
mod verify;

pub(crate) use chain::{AuditChain, Head};
pub use checkpoint::Checkpoint;
pub use entry::AuditEntry;
pub(crate) use leaf::{ERASED_AGENT, ERASED_OWNER, Hash, Seal, commitment, leaf};
pub use line::AuditLine;
pub use verify::{AuditFault, AuditReport, AuditVerifier};
