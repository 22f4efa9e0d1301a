//! The `portolan` command: it starts the host, and sends requests to a running one.
//!
//! - `config` reads the operator's settings and checks them together.
//! - `cli` has one module for each subcommand; `cli::serve` opens every crate of the host, with one clock,
//!   and runs them until a signal.
//!
//! Invariants: a configuration with a fault is never used, and all its faults are reported at once; no error
//! and no log contains a value that may be secret; no other crate reads flags.

pub mod cli;
pub mod config;

pub use cli::Arguments;
