//! An action of a loaded capability.

use crate::{companion::Companion, schema::Schema};
use portolan_vocabulary::{Access, ActionDescriptor, Consequence, ErrorCode, Failure};
use serde_json::json;

/// An action and its schemas.
#[derive(Debug)]
pub struct Action {
    pub descriptor: ActionDescriptor,
    pub schemas: Schemas,
    /// Whether it is not run in dry runs.
    pub no_dry_run: bool,
    /// Whether only a person makes it, on a page of the host.
    pub by_person: bool,
    /// The declared consequence.
    pub consequence: Option<Consequence>,
    pub companion: Companion,
}

impl Action {
    /// Returns whether agents may call it.
    pub fn is_callable(&self) -> bool {
        self.descriptor.access != Access::Internal && !self.by_person
    }

    /// Returns whether agents may call it with `dry_run`.
    pub fn takes_dry_run(&self) -> bool {
        self.descriptor.access == Access::Write && !self.no_dry_run
    }

    /// Refuses an action that only a person makes, on a page of the host.
    pub fn ensure_by(&self, is_person: bool) -> Result<(), Failure> {
        if is_person || !self.by_person {
            return Ok(());
        }
        let failure = Failure::new(ErrorCode::NotPermitted)
            .message("Only the person may do this. Ask them to do it on their account page.")
            .next(json!({ "http": { "method": "GET", "url": "/account" } }));
        Err(failure)
    }

    /// Refuses an action that has no dry run.
    pub fn ensure_dry_run(&self) -> Result<(), Failure> {
        if !self.no_dry_run {
            return Ok(());
        }
        let expected = "left out, because this action has no dry run";
        let error = json!({ "pointer": "/dry_run", "rule": "no_dry_run", "expected": expected });
        let failure = Failure::new(ErrorCode::ValidationFailed)
            .message("This action has no dry run. Call it without dry_run.")
            .conflict(json!({ "kind": "validation", "errors": [error] }));
        Err(failure)
    }
}

/// The schemas of one action.
#[derive(Debug)]
pub struct Schemas {
    pub input: Schema,
    pub output: Schema,
}
