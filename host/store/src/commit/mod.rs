//! Commits: group commit, validation, the writes, fan-out of events, and signals to waiting tasks.

mod apply;
mod caps;
mod committer;
mod email_notices;
mod fan_out;
mod holding;
mod locks;
mod overflow;
mod quotas;
mod rates;
mod read_only;
mod reads;
mod releasing;
mod signals;
mod validation;
mod verdict;

pub(crate) use committer::{CommitResult, Committer, Database};
pub(crate) use rates::Rates;
pub(crate) use read_only::ReadValidator;
pub use signals::InboxSignal;
pub(crate) use signals::{Announcement, Signals};
pub use verdict::{ConflictKey, Verdict};
