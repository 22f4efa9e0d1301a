//! The settings of an operator.
//!
//! - `raw`: reads them from defaults, `portolan.toml`, the environment and flags
//! - `operator`: those that a command needs to reach the host on this machine
//! - `shown`: those that the operator of a running host is shown
//! - `origin`: where each setting comes from
//! - `tls`: the certificate
//! - `database`: the database, and how its server is reached
//! - `checked`: turns them into a [`Config`], or reports every fault

mod checked;
mod database;
mod error;
mod operator;
mod origin;
mod raw;
mod shown;
mod tls;

pub use checked::Config;
pub(crate) use checked::publisher_key;
pub use error::ConfigError;
pub(crate) use operator::OperatorConfig;
pub(crate) use origin::{Origins, unknown_variables};
pub use raw::{FILE, Flags, LogFormat, Tokens};
