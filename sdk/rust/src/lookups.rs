//! Look-ups by the host for this capability: TXT records of the DNS, public pages, and files that change.
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

/// The parts of an answer about a file by which the next look-up asks only for a newer one.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// The result of a look-up of a file: the input of the action that the look-up names. It has a text, or the file is
/// unchanged, or there is an error.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredFile<T> {
    /// The id of the look-up. A result may be delivered twice.
    pub lookup_id: String,
    /// The data that was given with the look-up.
    pub about: T,
    /// The text of the file, which is untrusted.
    #[serde(default)]
    pub text: Option<String>,
    /// Whether the file is the one that the capability has.
    #[serde(default)]
    pub unchanged: bool,
    /// The entity tag for the next look-up.
    #[serde(default)]
    pub etag: Option<String>,
    /// The time of the last change, for the next look-up, as the server writes it.
    #[serde(default)]
    pub last_modified: Option<String>,
    /// The address for the next look-up, if the file has moved for good. It is a secret, like the address before.
    #[serde(default)]
    pub moved_to: Option<String>,
    /// Why the look-up failed, in a sentence that callers may read.
    #[serde(default)]
    pub error: Option<String>,
    /// The HTTP status of an answer that is an error.
    #[serde(default)]
    pub status: Option<u16>,
    /// The seconds for which the server asks to wait.
    #[serde(default)]
    pub retry_after_s: Option<u64>,
}

/// Reads a file that changes by its https address, which the host keeps secret, and returns the id of the look-up.
/// `known` are the validators of the file that the capability has.
pub fn file(
    url: &str,
    media_types: &[&str],
    known: &Validators,
    action: &str,
    about: &impl Serialize,
) -> Result<String, HostError> {
    let media_types: Vec<String> = media_types.iter().map(|&text| text.to_owned()).collect();
    let (etag, last_modified) = (known.etag.as_deref(), known.last_modified.as_deref());
    host::file(url, &media_types, etag, last_modified, action, &crate::to_json(about))
}
