//! The data of the calling person, in all capabilities: its export, and its erasure.
//!
//! The interface is sensitive: the host loads a capability that uses it only with its operator's grant.
//! Both are done after the call has committed. The parts of an export are inputs of an action of
//! access `internal`, which the host calls:
//!
//! ```no_run
//! use portolan_sdk::{people::{self, Part}, prelude::*};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct For {
//!     owner_id: String,
//! }
//!
//! struct MyData;
//!
//! /// Gives people what is stored about them.
//! #[capability(id = "my_data", title = "My data")]
//! impl MyData {
//!     /// Ask for an export.
//!     #[action(access = write)]
//!     fn export(call: &Call) -> Result<NoOutput, Refusal> {
//!         people::export("keep", &For { owner_id: call.require_owner()?.to_owned() })?;
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Keep a part of an export.
//!     #[action(access = internal)]
//!     fn keep(_call: &Call, part: Part<For>) -> Result<NoOutput, Refusal> {
//!         log::info!("part {} has {} items", part.part, part.items.len());
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Erase everything about the person.
//!     #[action(access = write, destructive)]
//!     fn erase(_call: &Call) -> Result<NoOutput, Refusal> {
//!         people::erase()?;
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

use crate::contract::{HostError, people as host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part of an export: the input of the action that the export names.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Part<T> {
    /// The id of the export. A part may be delivered twice.
    pub export_id: String,
    /// The data that was given with the export.
    pub about: T,
    /// Its number, from 1.
    pub part: u32,
    /// Whether it is the last one.
    pub last: bool,
    /// Objects with a `kind`: `document`, `event`, `webhook`, `answer` or `timer`.
    pub items: Vec<Value>,
}

/// Exports what is stored about the calling person, and returns the export's id.
pub fn export(action: &str, about: &impl Serialize) -> Result<String, HostError> {
    host::request_export(action, &crate::to_json(about))
}

/// Erases the data of the calling person after the commit. It cannot be undone.
pub fn erase() -> Result<(), HostError> {
    host::request_erasure()
}

/// Erases the data of a person after the commit, in a call without an agent, such as that of a timer. It cannot
/// be undone.
pub fn erase_owner(owner_id: &str) -> Result<(), HostError> {
    host::request_erasure_of(owner_id)
}
