//! A loaded capability: its component, its actions with their schemas, and the documents about it.

use crate::{
    action::{Action, Schemas},
    call_schema::schema_document,
    capability_tool::{CapabilityTool, tool_name, tools},
    companion::Companion,
    consequence::consequence,
    document::Document,
    person_page::{PersonPage, person_pages},
    published::{PublishedText, published},
    schema_cost::values_in_fields,
    tool::ToolSchemas,
    trust::Origin,
};
use portolan_sandbox::{PlatformAction, PlatformComponent, Prepared};
use portolan_store::Collections;
use portolan_vocabulary::{
    Access, ActionDescriptor, Descriptor, Digest, ErrorCode, Failure, Publisher, Role, Timestamp,
    is_idempotency_key,
};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, sync::Arc};

/// One capability of a snapshot.
#[derive(Debug)]
pub struct Capability {
    pub id: Arc<str>,
    pub descriptor: Descriptor,
    pub digest: Digest,
    /// The size of the component's file in bytes.
    pub size: u64,
    pub publisher: Publisher,
    /// The publishers whose keys the publisher's key succeeds.
    pub(super) predecessors: Vec<Publisher>,
    pub prepared: Prepared,
    pub actions: Vec<Action>,
    /// Empty until the capability is admitted, because only then the collections belong to it.
    pub collections: Collections,
    /// The JSON Schema of its calls' bodies.
    pub schema: Document,
    /// Its MCP tools, the declared ones first. Each action that agents may call is in one.
    pub tools: Vec<CapabilityTool>,
    /// The parts and forms of a person's page, in the order of the actions.
    pub person_pages: Vec<PersonPage>,
    /// The parts and forms of the pages of handoffs.
    pub drafted: Vec<PersonPage>,
    /// The text that programs read under secret addresses.
    pub published: Option<PublishedText>,
    pub companion: Companion,
}

/// The action that a body selects, and the rest of the body, which is not checked yet.
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

impl Selected<'_> {
    /// Returns whether the check of the body may delay the other tasks of its thread.
    pub fn takes_long(&self) -> bool {
        self.action.schemas.input.takes_long(values_in_fields(&self.body))
    }

    /// Returns the body with its action.
    pub fn into_body(self) -> Map<String, Value> {
        let Self { action, mut body } = self;
        body.insert("action".to_owned(), Value::String(action.descriptor.name.clone()));
        body
    }
}

fn is_callable(action: &&Action) -> bool {
    action.is_callable()
}

/// Returns whether an action changes nothing: by its access, or because its component has no import to change
/// something.
fn only_reads(prepared: &Prepared, action: &ActionDescriptor) -> bool {
    match action.access {
        Access::Read => true,
        Access::Open => prepared.imports().iter().all(|import| import.only_reads()),
        Access::Write | Access::Events | Access::Internal => false,
    }
}

impl Capability {
    pub(super) fn new(
        descriptor: Descriptor,
        schemas: Vec<Schemas>,
        prepared: Prepared,
        (digest, size): (Digest, u64),
        origin: Origin,
    ) -> Self {
        let Origin { publisher, predecessors } = origin;
        let actions: Vec<_> = descriptor
            .actions
            .iter()
            .cloned()
            .zip(schemas)
            .map(|(action, schemas)| Action {
                no_dry_run: descriptor.has_no_dry_run(&action.name),
                by_person: descriptor.is_by_person(&action.name),
                consequence: consequence(&descriptor, &action, &publisher),
                descriptor: action,
                schemas,
                companion: Companion::default(),
            })
            .collect();
        let schema = schema_document(&descriptor, &actions);
        let callable: Vec<_> = actions.iter().filter(is_callable).collect();
        let tools = tools(&descriptor, &callable, |action| only_reads(&prepared, action));
        let (drafted, person_pages) =
            person_pages(&descriptor).into_iter().partition(|page| page.draft.is_some());
        let published = published(&descriptor);
        let id = Arc::from(descriptor.id.as_str());
        let collections = Collections::default();
        Self {
            id,
            descriptor,
            digest,
            size,
            publisher,
            predecessors,
            prepared,
            actions,
            collections,
            schema,
            tools,
            person_pages,
            drafted,
            published,
            companion: Companion::default(),
        }
    }

    /// Returns whether this is by the same publisher as another capability, perhaps with another key.
    pub fn same_publisher(&self, other: &Self) -> bool {
        self.publisher == other.publisher
            || self.predecessors.contains(&other.publisher)
            || other.predecessors.contains(&self.publisher)
    }

    pub fn major_version(&self) -> u64 {
        semver::Version::parse(&self.descriptor.version).map_or(0, |version| version.major)
    }

    /// Returns the name under which calls over MCP reach all of its actions.
    pub fn tool_name(&self) -> String {
        tool_name(&self.id)
    }

    /// Returns the tool of an action.
    pub fn tool_with(&self, action: &str) -> Option<&CapabilityTool> {
        self.tools.iter().find(|tool| tool.has(action))
    }

    /// Returns the names of its tools, and the one for all of its actions.
    pub(super) fn tool_names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let own = self.tools.iter().map(|tool| Cow::Borrowed(tool.name.as_str()));
        own.chain([Cow::Owned(self.tool_name())])
    }

    /// Returns the actions that agents may call.
    pub fn callable(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().filter(is_callable)
    }

    /// Returns whether an action changes nothing.
    pub fn only_reads(&self, action: &Action) -> bool {
        only_reads(&self.prepared, &action.descriptor)
    }

    /// Returns the schemas of a tool with these actions of the capability.
    pub fn tool_of(&self, actions: &[&Action]) -> ToolSchemas {
        ToolSchemas::new(&self.descriptor, actions)
    }

    /// Returns the action with this name, which may be internal.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.descriptor.name == name)
    }

    /// Returns whether it declares a role.
    pub fn declares(&self, role: Role) -> bool {
        self.descriptor.roles.iter().any(|name| name == role.name())
    }

    /// Returns whether its sunset date has passed.
    pub fn is_sunset(&self, now: Timestamp) -> bool {
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

    /// Selects the action that a body names, or the default action, and takes its name out of the body.
    pub fn select(&self, mut body: Map<String, Value>) -> Result<Selected<'_>, Failure> {
        let action = self.action_of(&body)?;
        body.shift_remove("action");
        Ok(Selected { action, body })
    }

    /// Returns the action that a body names, or the default action.
    pub fn action_of(&self, body: &Map<String, Value>) -> Result<&Action, Failure> {
        let name = match body.get("action") {
            Some(Value::String(name)) => name,
            Some(_) => return Err(self.missing_action("type")),
            None => match &self.descriptor.default_action {
                Some(name) => name,
                None => return Err(self.missing_action("required")),
            },
        };
        // An action that only a person may take is refused with its reason, after the permission is checked.
        let is_selected = |action: &&Action| action.descriptor.access != Access::Internal;
        self.action(name).filter(is_selected).ok_or_else(|| {
            Failure::new(ErrorCode::UnknownAction)
                .conflict(self.action_violation("enum"))
                .next(self.schema_step())
        })
    }

    /// Takes the host's own fields out of a body and checks the rest against the action's schema.
    /// `header` is the idempotency key of the request's header.
    pub fn check_input(
        &self,
        selected: Selected<'_>,
        header: Option<String>,
    ) -> Result<Input, Failure> {
        let Selected { action, mut body } = selected;
        // Only a write has these fields; for other actions the schema refuses them.
        let (mut dry_run, mut idempotency_key) = (false, header);
        if action.descriptor.access == Access::Write {
            dry_run = match body.shift_remove("dry_run") {
                None => false,
                Some(Value::Bool(dry_run)) => dry_run,
                Some(_) => return Err(self.invalid(action, "/dry_run", "type", json!("boolean"))),
            };
            if dry_run {
                let has_one = action.ensure_dry_run();
                has_one.map_err(|failure| self.complete_validation(action, failure))?;
            }
            idempotency_key = match body.shift_remove("idempotency_key") {
                None => idempotency_key,
                Some(Value::String(key))
                    if idempotency_key.as_ref().is_some_and(|header| *header != key) =>
                {
                    let expected = json!("the same as the header Idempotency-Key");
                    return Err(self.invalid(action, "/idempotency_key", "const", expected));
                }
                Some(Value::String(key)) if is_idempotency_key(&key) => Some(key),
                Some(_) => {
                    let expected = json!("a string of 1 to 255 bytes without control characters");
                    return Err(self.invalid(action, "/idempotency_key", "type", expected));
                }
            };
        }
        let fields = Value::Object(body);
        match action.schemas.input.violations(&fields) {
            Some(conflict) => Err(self.invalid_input(action, conflict)),
            None => Ok(Input { fields, dry_run, idempotency_key }),
        }
    }

    /// Returns `validation_failed` with its conflict.
    fn invalid_input(&self, action: &Action, conflict: Value) -> Failure {
        let failure = Failure::new(ErrorCode::ValidationFailed).conflict(conflict);
        self.complete_validation(action, failure)
    }

    fn invalid(&self, action: &Action, pointer: &str, rule: &str, expected: Value) -> Failure {
        let error = json!({ "pointer": pointer, "rule": rule, "expected": expected });
        self.invalid_input(action, json!({ "kind": "validation", "errors": [error] }))
    }

    fn missing_action(&self, rule: &str) -> Failure {
        Failure::new(ErrorCode::ValidationFailed)
            .conflict(self.action_violation(rule))
            .next(self.schema_step())
    }
}
