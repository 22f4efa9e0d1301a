//! Commits: group commit, validation, the writes, fan-out of events, and signals to waiting tasks.

mod apply;
mod committer;
mod fan_out;
mod inbox_rates;
mod quotas;
mod signals;
mod validation;
mod verdict;

pub(crate) use committer::{Answer, Committer, Database};
pub(crate) use inbox_rates::InboxRates;
pub use signals::InboxSignal;
pub(crate) use signals::Signals;
pub use verdict::{ConflictKey, Verdict};
