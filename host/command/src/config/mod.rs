//! The settings of an operator.
//!
//! - `written`: reads them from defaults, `portolan.toml`, the environment and flags
//! - `operator`: those that a command needs to reach the host on this machine
//! - `checked`: turns them into a [`Config`], or reports every fault

mod checked;
mod error;
mod operator;
mod written;

pub use checked::Config;
pub(crate) use checked::publisher_key;
pub use error::ConfigError;
pub(crate) use operator::OperatorConfig;
pub use written::{FILE, Flags, Tokens};
