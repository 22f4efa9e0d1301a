//! The task that follows the catalog folder: it notices changes, waits until a file is complete, loads it
//! and publishes the next snapshot.
//!
//! The modules in reading order; a module uses only modules above it:
//!
//! - `state`: what the keeper knows of each file, and its work in progress
//! - `changes`: changes of the catalog, and the next snapshot
//! - `admission`: whether a loaded component may serve, and when
//! - `migrations`: documents are migrated before a component serves
//! - `loads`: files are loaded when they are complete
//! - `decisions`: the decisions of the operator take effect
//! - `run`: the start, and the task itself

mod admission;
mod changes;
mod decisions;
mod loads;
mod migrations;
mod run;
mod state;

pub(super) use admission::Admitted;
pub(super) use state::{FileState, Keeper};
