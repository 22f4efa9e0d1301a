//! The `portolan` command: puts the crates of the host together as the configuration says.

pub mod cli;
pub mod config;

pub use cli::Arguments;
