//! The error of a configuration.

use std::fmt;

/// Every fault of the settings.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError(pub(super) Vec<String>);

impl ConfigError {
    /// Returns the faults, each with its fix.
    pub fn faults(&self) -> &[String] {
        &self.0
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the configuration is invalid:")?;
        self.0.iter().try_for_each(|fault| write!(formatter, "\n  - {fault}"))
    }
}
