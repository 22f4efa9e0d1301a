//! A setting as operators read it.

use serde::Serialize;

/// A setting as it is in force. A secret has no value here.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// The name in the configuration, such as `limits.call_wall_time_ms`.
    pub name: String,
    pub value: String,
}
