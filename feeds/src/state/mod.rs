//! What was last read from each source, and how a new reading changes it.

mod kept;
mod reading;

pub use kept::{Failing, Held, Kept, Obtained, Origin, Quarantined, Records, Scope, State, Trust};
