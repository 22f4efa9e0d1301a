//! The access classes of actions.

use serde::{Deserialize, Serialize};

/// The OAuth scopes, one for each access class that needs a scope.
pub const SCOPES: [&str; 3] = [READ, WRITE, EVENTS];
const READ: &str = "svc.read";
const WRITE: &str = "svc.write";
const EVENTS: &str = "svc.events";

/// The access class of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    Read,
    Write,
    Events,
    Open,
    Internal,
}

impl Access {
    /// Returns the OAuth scope that a caller needs, if any.
    pub fn scope(self) -> Option<&'static str> {
        match self {
            Self::Read => Some(READ),
            Self::Write => Some(WRITE),
            Self::Events => Some(EVENTS),
            Self::Open | Self::Internal => None,
        }
    }

    /// Returns whether a person must have claimed the calling agent.
    pub fn requires_claim(self) -> bool {
        self == Self::Write
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Events => "events",
            Self::Open => "open",
            Self::Internal => "internal",
        }
    }
}
