//! Look-ups by the host for this capability: TXT records of the DNS, and public pages.
//!
//! The interface is sensitive: the host loads a capability that uses it only with its operator's grant.
//! A look-up is made after the call has committed, at least once. Its result is the input of an action of
//! access `internal`, which the host calls:
//!
//! ```no_run
//! use portolan_sdk::{lookups::{self, Answered}, prelude::*};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Site {
//!     domain: String,
//! }
//!
//! struct Sites;
//!
//! /// Reads the TXT records of sites.
//! #[capability(id = "sites", title = "Sites")]
//! impl Sites {
//!     /// Look at a site.
//!     #[action(access = write)]
//!     fn look(_call: &Call, input: Site) -> Result<NoOutput, Refusal> {
//!         lookups::txt(&input.domain, "seen", &input)?;
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Record the texts of a site.
//!     #[action(access = internal)]
//!     fn seen(_call: &Call, answer: Answered<Site>) -> Result<NoOutput, Refusal> {
//!         log::info!("{} has {} texts", answer.about.domain, answer.found.len());
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

use crate::contract::{HostError, lookups as host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a look-up: the input of the action that the look-up names.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Answered<T> {
    /// The id of the look-up. A result may be delivered twice.
    pub lookup_id: String,
    /// The data that was given with the look-up.
    pub about: T,
    /// The texts that were found, which are untrusted.
    #[serde(default)]
    pub found: Vec<String>,
    /// Why the look-up failed, in a sentence that callers may read.
    #[serde(default)]
    pub error: Option<String>,
}

/// Looks up the TXT records of a name, and returns the id of the look-up.
pub fn txt(name: &str, action: &str, about: &impl Serialize) -> Result<String, HostError> {
    host::txt(name, action, &crate::to_json(about))
}

/// Looks up the content of a page by its https address, and returns the id of the look-up.
pub fn page(url: &str, action: &str, about: &impl Serialize) -> Result<String, HostError> {
    host::page(url, action, &crate::to_json(about))
}
