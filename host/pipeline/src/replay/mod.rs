//! Recorded calls, run again: every call of a host function is answered from the record, and nothing is kept.
//!
//! - `error`: why a call cannot be replayed
//! - `candidate`: which components may be given
//! - `run`: one recorded run, with one component
//! - `compare`: what differs from the record
//! - `call`: all runs of a recorded call
//! - `rehearse`: the recorded runs of a capability with another version of it
//! - `redact`: what is shown of a record without personal data

mod call;
mod candidate;
mod compare;
mod error;
mod redact;
mod rehearse;
mod run;

pub use call::ReplayedCall;
pub use compare::ReplayVerdict;
pub use error::ReplayError;
pub use redact::redacted;
pub use rehearse::{Rehearsal, RehearsedRun};
pub use run::ReplayedRun;
