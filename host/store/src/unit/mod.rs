//! Units of work: what one call has read and wants to write, committed whole or not at all.

mod cause;
mod documents;
mod effects;
mod find;
mod guard;
mod layer;
mod savepoints;
mod timers;
mod unit_of_work;

pub use cause::Cause;
pub(crate) use documents::DOCUMENT_BYTES;
pub use find::{Hit, Page};
pub use unit_of_work::Unit;
