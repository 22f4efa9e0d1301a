//! A loaded capability: its component, its actions with their schemas, and the documents about it.

use crate::{check::Schemas, documents, tool::ToolSchemas};
use portolan_sandbox::{PlatformAction, PlatformComponent, Prepared};
use portolan_store::Collections;
use portolan_vocabulary::{
    Access, ActionDescriptor, Descriptor, Digest, ErrorCode, Failure, Timestamp,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// One capability of a snapshot.
#[derive(Debug)]
pub struct Capability {
    pub id: Arc<str>,
    pub descriptor: Descriptor,
    pub digest: Digest,
    /// Bytes of the component's file.
    pub size: u64,
    pub prepared: Prepared,
    pub actions: Vec<Action>,
    /// Empty until it is admitted: only then are they its own.
    pub collections: Collections,
    /// Its JSON Schema document and the entity tag of it.
    pub schema: documents::Document,
    /// The same as the schemas of one tool.
    pub tool: ToolSchemas,
}

/// An action and its schemas.
#[derive(Debug)]
pub struct Action {
    pub descriptor: ActionDescriptor,
    pub schemas: Schemas,
}

/// The action that a body means, and the rest of the body, not judged yet.
#[derive(Debug)]
pub struct Selected<'a> {
    pub action: &'a Action,
    body: Map<String, Value>,
}

/// A body that satisfies its action's schema.
#[derive(Debug)]
pub struct Input {
    /// The action's own fields.
    pub fields: Value,
    pub dry_run: bool,
    pub idempotency_key: Option<String>,
}

impl Capability {
    pub(super) fn new(
        descriptor: Descriptor,
        schemas: Vec<Schemas>,
        prepared: Prepared,
        digest: Digest,
        size: u64,
    ) -> Self {
        let actions: Vec<_> = descriptor
            .actions
            .iter()
            .cloned()
            .zip(schemas)
            .map(|(descriptor, schemas)| Action { descriptor, schemas })
            .collect();
        let schema = documents::schema(&descriptor, &actions);
        let tool = ToolSchemas::new(&descriptor, &actions);
        let id = Arc::from(descriptor.id.as_str());
        let collections = Collections::default();
        Self { id, descriptor, digest, size, prepared, actions, collections, schema, tool }
    }

    pub fn major_version(&self) -> u64 {
        semver::Version::parse(&self.descriptor.version).map_or(0, |version| version.major)
    }

    /// The name of its MCP tool: the id, in the characters that tool names may have.
    pub fn tool_name(&self) -> String {
        self.id.replace('.', "_")
    }

    /// Actions that agents may call.
    pub fn callable(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().filter(|action| action.descriptor.access != Access::Internal)
    }

    /// An action by its name, also an internal one.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.descriptor.name == name)
    }

    /// Whether its sunset date has passed.
    pub fn has_set(&self, now: Timestamp) -> bool {
        self.descriptor.sunset_at.is_some_and(|sunset| sunset <= now)
    }

    pub(super) fn platform_component(&self) -> PlatformComponent {
        PlatformComponent {
            id: self.id.to_string(),
            version: self.descriptor.version.clone(),
            title: self.descriptor.title.clone(),
            status: self.descriptor.status,
            sunset_at: self.descriptor.sunset_at,
            successor: self.descriptor.successor.clone(),
            digest: self.digest,
            actions: self
                .actions
                .iter()
                .map(|action| PlatformAction {
                    name: action.descriptor.name.clone(),
                    access: action.descriptor.access,
                    emits: action.descriptor.emits.clone(),
                })
                .collect(),
        }
    }

    /// Finds the action that a body means.
    pub fn select(&self, mut body: Map<String, Value>) -> Result<Selected<'_>, Failure> {
        let name = match body.shift_remove("action") {
            Some(Value::String(name)) => name,
            Some(_) => return Err(self.action_wanted("type")),
            None => match &self.descriptor.default_action {
                Some(name) => name.clone(),
                None => return Err(self.action_wanted("required")),
            },
        };
        let action =
            self.callable().find(|action| action.descriptor.name == name).ok_or_else(|| {
                Failure::new(ErrorCode::UnknownAction)
                    .conflict(self.action_violation("enum"))
                    .next(self.read_schema())
            })?;
        Ok(Selected { action, body })
    }

    /// Takes the host's own fields out of a body and holds the rest against the action's schema.
    /// `header` is an idempotency key that came beside the body.
    pub fn check_input(
        &self,
        selected: Selected<'_>,
        header: Option<String>,
    ) -> Result<Input, Failure> {
        let Selected { action, mut body } = selected;
        // Only a write can be repeated by mistake or rehearsed; elsewhere the schema refuses them.
        let (mut dry_run, mut idempotency_key) = (false, header);
        if action.descriptor.access == Access::Write {
            dry_run = match body.shift_remove("dry_run") {
                None => false,
                Some(Value::Bool(dry_run)) => dry_run,
                Some(_) => return Err(self.invalid("/dry_run", "type", json!("boolean"))),
            };
            idempotency_key = match body.shift_remove("idempotency_key") {
                None => idempotency_key,
                Some(Value::String(key))
                    if idempotency_key.as_ref().is_some_and(|it| *it != key) =>
                {
                    let expected = json!("the same as the header Idempotency-Key");
                    return Err(self.invalid("/idempotency_key", "const", expected));
                }
                Some(Value::String(key)) if (1..=255).contains(&key.len()) => Some(key),
                Some(_) => {
                    let expected = json!("a string of 1 to 255 bytes");
                    return Err(self.invalid("/idempotency_key", "type", expected));
                }
            };
        }
        let fields = Value::Object(body);
        match action.schemas.input.violations(&fields) {
            Some(conflict) => Err(self.invalid_input(conflict)),
            None => Ok(Input { fields, dry_run, idempotency_key }),
        }
    }

    /// `validation_failed` with what is wrong.
    fn invalid_input(&self, conflict: Value) -> Failure {
        Failure::new(ErrorCode::ValidationFailed).conflict(conflict).next(self.read_schema())
    }

    fn invalid(&self, pointer: &str, rule: &str, expected: Value) -> Failure {
        self.invalid_input(json!({
            "kind": "validation",
            "errors": [{ "pointer": pointer, "rule": rule, "expected": expected }],
        }))
    }

    fn action_wanted(&self, rule: &str) -> Failure {
        self.invalid_input(self.action_violation(rule))
    }

    fn action_violation(&self, rule: &str) -> Value {
        let names: Vec<_> = self.callable().map(|action| action.descriptor.name.as_str()).collect();
        json!({
            "kind": "validation",
            "errors": [{ "pointer": "/action", "rule": rule, "expected": names }],
        })
    }

    fn read_schema(&self) -> Value {
        json!({ "http": { "method": "GET", "url": format!("/v1/capabilities/{}/schema", self.id) } })
    }
}
