//! The settings by which a command finds the host on this machine.

use crate::config::{FILE, Flags, error::ConfigError, raw::RawConfig};
use std::path::{Path, PathBuf};

/// The operator's address of this machine's host, and the folder of its socket and token.
#[derive(Debug)]
pub(crate) struct OperatorConfig {
    pub(crate) admin_listen: String,
    pub(crate) data_dir: PathBuf,
    /// `None` if the token is in the data folder.
    pub(crate) token: Option<String>,
}

impl OperatorConfig {
    /// Reads the settings as `serve` with these flags does, but without the checks of `Config`.
    pub(crate) fn load(
        data_dir: Option<PathBuf>,
        admin_listen: Option<String>,
    ) -> Result<Self, ConfigError> {
        let flags = Flags { data_dir, admin_listen, ..Flags::default() };
        let RawConfig { admin_listen, data_dir, operator_token, .. } =
            RawConfig::read(Path::new(FILE), &flags)?;
        Ok(Self { admin_listen, data_dir, token: operator_token })
    }
}
