//! The delivery rules of people, which the host keeps: mutes, by calls of `owners`, and the transfer of rules
//! that capabilities stored before the host kept them.

use portolan_sdk::prelude::*;

/// The number of documents whose rules are stated in one call.
pub const STATED_AT_ONCE: u32 = 50;
/// The wait after a change of the catalog, until all nodes have it.
const DELAY: u64 = MINUTE;

/// The part of `catalog.changed` that is read.
#[input]
pub struct CatalogChange {
    #[schemars(length(max = 100_000), inner(length(max = 200)))]
    added: Vec<String>,
    #[schemars(length(max = 100_000))]
    changed: Vec<ChangedCapability>,
}

#[input]
pub struct ChangedCapability {
    #[schemars(length(min = 1, max = 200))]
    id: String,
}

/// The input of the internal action that states the rules of the next documents.
#[input]
pub struct StateNext {
    /// Where to continue; null begins with the first document.
    #[schemars(length(min = 1, max = 2000))]
    pub cursor: Option<String>,
}

impl CatalogChange {
    /// Returns whether a version of a capability was installed.
    pub fn names(&self, capability: &str) -> bool {
        let changed = self.changed.iter().map(|changed| &changed.id);
        changed.chain(&self.added).any(|id| id == capability)
    }
}

/// Lets the action begin to state rules, when all nodes have the changed catalog.
pub fn begin_stating(call: &Call, action: &str) -> Result<(), HostError> {
    timers::set(action, call.now() + DELAY, action, &StateNext { cursor: None })
}

/// Lets the action state the rules of the next documents, if there are more.
pub fn go_on_stating(call: &Call, action: &str, next: Option<String>) -> Result<(), HostError> {
    match next {
        Some(cursor) => {
            timers::set(action, call.now(), action, &StateNext { cursor: Some(cursor) })
        }
        None => Ok(()),
    }
}

/// The input of `owners mute`.
#[message]
pub struct Mute {
    /// The person who mutes.
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    /// The id of the person or the thing that is muted.
    #[schemars(length(min = 1, max = 100))]
    pub subject: String,
    /// The end, in milliseconds since the Unix epoch; omit it for a mute without an end.
    pub until: Option<u64>,
}

/// The input of `owners unmute`.
#[message]
pub struct Unmute {
    /// The person who has muted.
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    /// The id of the person or the thing that is muted.
    #[schemars(length(min = 1, max = 100))]
    pub subject: String,
}

pub const MUTE: Invocation<Mute, ()> = Invocation::new("owners", "mute");
pub const UNMUTE: Invocation<Unmute, ()> = Invocation::new("owners", "unmute");

/// Keeps the events of a person or about a thing from an owner's agents.
pub fn mute(owner_id: &str, subject: &str, until: Option<u64>) -> Result<(), Refusal> {
    MUTE.call(&Mute { owner_id: owner_id.to_owned(), subject: subject.to_owned(), until })
}

/// Ends a mute, if there is one.
pub fn unmute(owner_id: &str, subject: &str) -> Result<(), Refusal> {
    UNMUTE.call(&Unmute { owner_id: owner_id.to_owned(), subject: subject.to_owned() })
}
