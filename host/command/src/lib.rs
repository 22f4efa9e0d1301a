//! The `portolan` command: starts the host as its configuration says, and talks to a running one.
//!
//! - `config` loads the settings of an operator and checks them whole.
//! - `cli` has one module for each subcommand; `cli::serve` opens every crate of the host, with one clock,
//!   and runs them until a signal.
//!
//! Invariants: a configuration is never half usable: every fault is reported at once, or none; no error and
//! no log names a value that may be secret; no other crate reads a flag.

pub mod cli;
pub mod config;

pub use cli::Arguments;
