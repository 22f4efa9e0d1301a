//! The `portolan` command: it starts the host, and sends requests to a running one.
//!
//! - `config` reads the operator's settings and checks them together.
//! - `startup` opens every crate of the host, with one clock, and serves until it is told to stop. It changes
//!   nothing about the process, so that several hosts can run in one.
//! - `reload` takes over a changed configuration while the host runs.
//! - `cli` has one module for each subcommand; `cli::serve` adds what belongs to the process: the log,
//!   signals and limits.
//!
//! Invariants: a configuration with a fault is never used, and all its faults are reported at once; no error
//! and no log contains a value that may be secret; no other crate reads flags.

pub mod cli;
pub mod config;
mod reload;
mod secret_keys;
mod startup;

pub use cli::Arguments;
pub use reload::{Reloaded, Reloader};
pub use startup::{HostResources, OpenHost};
