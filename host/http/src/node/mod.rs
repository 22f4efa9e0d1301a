//! The state of this node, as it is checked every few seconds: what the probes answer, and what `portolan doctor`
//! and `GET /problems` tell with its fix.
//!
//! - `parts`: the table of what can be wrong, with what makes a node unready
//! - `problem`: something that is wrong
//! - `places`: the files of the node, and whether they are still in their place
//! - `checks`: the checks
//! - `watch`: runs them, and keeps the last result

mod checks;
pub mod parts;
mod places;
mod problem;
mod watch;

pub use checks::{differing_clock, late_clock, missing_keys};
pub use parts::{PARTS, Part};
pub use places::{NodePlaces, check_folder, check_space};
pub use problem::{Problem, Severity};
pub(super) use watch::NodeHealth;
