//! The data of an event.

use crate::{Call, Next};
use serde::Serialize;

/// The data of an event: the entity that it is about, the acting person, the next step, and fields
/// of its own.
#[derive(Debug, Serialize)]
pub struct Data<T> {
    v: u8,
    resource: Resource,
    actor: Actor,
    /// One sentence by the capability's author.
    summary: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Next>,
    #[serde(flatten)]
    more: T,
}

/// The entity that an event is about.
#[derive(Debug, Clone, Serialize)]
pub struct Resource {
    /// The kind of entity, such as `listing`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub id: String,
    pub state: &'static str,
    pub version: u64,
}

#[derive(Debug, Serialize)]
struct Actor {
    /// `owner`, or `system` if the event names no person.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_id: Option<String>,
}

/// The fields of an event that has none of its own.
#[derive(Debug, Serialize)]
pub struct Nothing {}

impl<T> Data<T> {
    /// Makes the data of an action by the caller. Use [`by_system`](Self::by_system) where the event must
    /// not name the caller.
    pub fn new(call: &Call, resource: Resource, summary: &'static str, more: T) -> Self {
        let owner_id = call.owner_id().map(str::to_owned);
        let kind = if owner_id.is_some() { "owner" } else { "system" };
        Self { v: 1, resource, actor: Actor { kind, owner_id }, summary, next: None, more }
    }

    /// Makes the data of an action by a person who is not the caller.
    pub fn by_owner(owner_id: &str, resource: Resource, summary: &'static str, more: T) -> Self {
        let actor = Actor { kind: "owner", owner_id: Some(owner_id.to_owned()) };
        Self { v: 1, resource, actor, summary, next: None, more }
    }

    /// Makes the data of an action by the host, or by somebody whom the event must not name.
    pub fn by_system(resource: Resource, summary: &'static str, more: T) -> Self {
        let actor = Actor { kind: "system", owner_id: None };
        Self { v: 1, resource, actor, summary, next: None, more }
    }

    /// Adds the most likely next step.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }
}
