//! Questions that the host puts to the public for this capability: texts of the DNS, and pages.
//!
//! The interface is sensitive: the host loads a capability that asks only with its operator's grant.
//! A question is asked when the call has committed, at least once, and the answer comes to an action of
//! access `internal`, for nobody:
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
//! /// Looks at what sites say of themselves.
//! #[capability(id = "sites", title = "Sites")]
//! impl Sites {
//!     /// Look at a site.
//!     #[action(access = write)]
//!     fn look(_call: &Call, input: Site) -> Result<NoOutput, Refusal> {
//!         lookups::txt(&input.domain, "seen", &input)?;
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Note what a site says.
//!     #[action(access = internal)]
//!     fn seen(call: &Call, answer: Answered<Site>) -> Result<NoOutput, Refusal> {
//!         call.log(&format!("{} has {} texts", answer.about.domain, answer.found.len()));
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

use crate::contract::{HostError, lookups as host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the public says: the input of the action that was named with the question.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Answered<T> {
    /// Which question this answers. An answer may come twice.
    pub lookup_id: String,
    /// What was given with the question.
    pub about: T,
    /// The texts that are there. Somebody else wrote them.
    #[serde(default)]
    pub found: Vec<String>,
    /// Why there is no answer, in a sentence that callers may read.
    #[serde(default)]
    pub error: Option<String>,
}

/// Asks for the texts (TXT) of a name; answers the id of the question.
pub fn txt(name: &str, action: &str, about: &impl Serialize) -> Result<String, HostError> {
    host::txt(name, action, &crate::to_json(about))
}

/// Asks what stands on a page, by its https address; answers the id of the question.
pub fn page(url: &str, action: &str, about: &impl Serialize) -> Result<String, HostError> {
    host::page(url, action, &crate::to_json(about))
}
