//! The data of an event about a thing.

use crate::{Call, Next};
use serde::Serialize;

/// The data of an event: what it is about, who did it, what to call next, and fields of its own.
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

/// What an event is about.
#[derive(Debug, Clone, Serialize)]
pub struct Resource {
    /// `listing`
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub id: String,
    pub state: &'static str,
    pub version: u64,
}

#[derive(Debug, Serialize)]
struct Actor {
    /// `owner`, or `system` for a timer and the operator.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_id: Option<String>,
}

/// No fields of its own.
#[derive(Debug, Serialize)]
pub struct Nothing {}

impl<T> Data<T> {
    /// Data of what the caller did. Where an event must not tell who did it, use [`by_system`](Self::by_system).
    pub fn new(call: &Call, resource: Resource, summary: &'static str, more: T) -> Self {
        let owner_id = call.owner_id().map(str::to_owned);
        let kind = if owner_id.is_some() { "owner" } else { "system" };
        Self { v: 1, resource, actor: Actor { kind, owner_id }, summary, next: None, more }
    }

    /// Data of what a person did for whom somebody else calls.
    pub fn by_owner(owner_id: &str, resource: Resource, summary: &'static str, more: T) -> Self {
        let actor = Actor { kind: "owner", owner_id: Some(owner_id.to_owned()) };
        Self { v: 1, resource, actor, summary, next: None, more }
    }

    /// Data of what the host did, or of what nobody is told who did it.
    pub fn by_system(resource: Resource, summary: &'static str, more: T) -> Self {
        let actor = Actor { kind: "system", owner_id: None };
        Self { v: 1, resource, actor, summary, next: None, more }
    }

    /// The step that most likely follows.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }
}
