//! The settings of an operator.
//!
//! - `written`: reads them from defaults, `portolan.toml`, the environment and flags
//! - `checked`: turns them into a [`Config`], or reports every fault

mod checked;
mod error;
mod written;

pub use checked::Config;
pub use error::ConfigError;
pub use written::{FILE, Flags, Tokens};
