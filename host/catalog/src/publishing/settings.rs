//! The operator's settings for publishing.

use serde::{Deserialize, Serialize};

/// The treatment of a published version that breaks callers without a new major version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BreakingPolicy {
    Refuse,
    Allow,
}

/// The `[publish]` table of the configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PublishSettings {
    pub breaking: BreakingPolicy,
    /// The number of versions of each capability whose contents are kept.
    pub keep: u64,
}

impl Default for PublishSettings {
    fn default() -> Self {
        Self { breaking: BreakingPolicy::Refuse, keep: 10 }
    }
}

impl PublishSettings {
    /// Returns what is wrong, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        match self.keep {
            0 => vec!["publish.keep is 0: it must be at least 1".to_owned()],
            _ => Vec::new(),
        }
    }
}
