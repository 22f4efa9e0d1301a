//! Commits: several units of work at once, each checked against what the ones before it wrote.

mod apply;
mod committer;
mod fan_out;
mod signals;
mod validation;
mod verdict;

pub(crate) use committer::{Answer, Committer, Database};
pub use signals::News;
pub(crate) use signals::Signals;
pub use verdict::{ConflictKey, Verdict};
