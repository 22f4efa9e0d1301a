//! The effects of an action: events, timers, nested calls, look-ups and messages.

use crate::{contract::events::Audience, log::Level};
use serde_json::Value;

/// A published event.
#[derive(Debug, Clone)]
pub struct Published {
    pub to: Audience,
    pub event_type: String,
    pub subject: String,
    pub data: Value,
}

/// A timer that is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Timer {
    pub name: String,
    /// Milliseconds since the Unix epoch.
    pub at: u64,
    pub action: String,
    pub input: Value,
}

/// A nested call.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub capability: String,
    pub action: String,
    pub input: Value,
}

/// A look-up that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    pub id: String,
    pub question: Question,
    pub action: String,
    pub about: Value,
}

/// The question of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The TXT records of a name.
    Txt(String),
    /// The page of an address.
    Page(String),
    /// The file of an address, unless it is the one with this entity tag or this time of its last change.
    File { url: String, etag: Option<String>, last_modified: Option<String> },
}

/// A message for the operator's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    pub level: Level,
    pub message: String,
}

/// A request about a person's data.
#[derive(Debug, Clone, PartialEq)]
pub enum PeopleRequest {
    /// The export of the calling person.
    Export { export_id: String, action: String, about: Value },
    /// The erasure of the calling person, or of one that a call without an agent has named.
    Erasure { owner_id: String },
}
