//! The descriptor of a component, in the host's own types.

use crate::people::Person;
use crate::{Access, ErrorKind, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Descriptor {
    pub id: String,
    pub version: String,
    pub title: String,
    pub summary: String,
    pub description: String,
    pub tags: Vec<String>,
    pub status: Status,
    pub sunset_at: Option<Timestamp>,
    pub successor: Option<String>,
    pub actions: Vec<ActionDescriptor>,
    pub default_action: Option<String>,
    pub errors: Vec<ErrorDeclaration>,
    pub collections: Vec<Collection>,
    /// The actions of other capabilities that this capability calls. It may call no others.
    pub invokes: Vec<Invocation>,
    pub publishes: Vec<Publication>,
    pub subscriptions: Vec<Subscription>,
    pub state_machines: Vec<StateMachine>,
    /// The names of the roles that the component declares. They are not checked: a role may be unknown.
    pub roles: Vec<String>,
    pub prompts: Vec<Prompt>,
    /// The annotations of the capability, of its actions and of its collections.
    pub annotations: Vec<Annotation>,
}

/// A value for programs that know its key.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The place that the annotation describes: empty for the capability, or a path such as `actions.search`.
    pub at: String,
    pub key: String,
    /// `Err` holds the reason why the text is not JSON.
    pub value: Result<Value, String>,
}

/// The annotation of actions of access `write` that a suspended person may call: `true`.
pub const WHILE_SUSPENDED: &str = "portolan/while_suspended";

/// The annotation of collections with copies of exports of people's data, which other exports leave out: `true`.
pub const LEFT_OUT_OF_EXPORTS: &str = "portolan/left_out_of_exports";

/// The annotation of the capability with its tools for MCP: a list of `{name, title, description, actions, default?}`.
pub const TOOLS: &str = "portolan/tools";

/// The annotation of actions with what people want when the action is right for them: a list of texts.
pub const INTENTS: &str = "portolan/intents";

/// The annotation of actions that belong on a person's own page: what the page shows of them, or its form.
pub const PERSON_PAGE: &str = "portolan/person_page";

/// The annotation of actions of access `write` or `internal` that have no dry run: `true`.
pub const NO_DRY_RUN: &str = "portolan/no_dry_run";

/// The annotation of the capability, or of its actions of access `write` or `internal`, with what they bring about:
/// `{category, counterpart?, first_contact?, amount?, currency?}`.
pub const CONSEQUENCE: &str = "portolan/consequence";

/// The annotation of actions of access `write` that only a person makes, on a page of the host: `true`.
pub const BY_PERSON: &str = "portolan/by_person";

/// The annotation of an action of access `internal` whose text programs read under a secret address:
/// `{media_type}`.
pub const PUBLISHED: &str = "portolan/published";

/// The annotations that the host knows.
pub const KNOWN_ANNOTATIONS: [&str; 9] = [
    WHILE_SUSPENDED,
    LEFT_OUT_OF_EXPORTS,
    TOOLS,
    INTENTS,
    PERSON_PAGE,
    NO_DRY_RUN,
    CONSEQUENCE,
    BY_PERSON,
    PUBLISHED,
];

impl Descriptor {
    /// Returns whether exports of people's data leave out a collection.
    pub fn leaves_out_of_exports(&self, collection: &str) -> bool {
        let at = format!("collections.{collection}");
        self.has_annotation(&at, LEFT_OUT_OF_EXPORTS)
    }

    /// Returns whether a suspended person may call an action of access `write`.
    pub fn permits_while_suspended(&self, action: &str) -> bool {
        let at = format!("actions.{action}");
        self.has_annotation(&at, WHILE_SUSPENDED)
    }

    /// Returns whether an action is not run in dry runs.
    pub fn has_no_dry_run(&self, action: &str) -> bool {
        self.has_annotation(&format!("actions.{action}"), NO_DRY_RUN)
    }

    /// Returns whether only a person makes an action, on a page of the host.
    pub fn is_by_person(&self, action: &str) -> bool {
        self.has_annotation(&format!("actions.{action}"), BY_PERSON)
    }

    /// Returns whether an annotation is `true`.
    fn has_annotation(&self, at: &str, key: &str) -> bool {
        self.annotations.iter().any(|annotation| {
            annotation.at == at
                && annotation.key == key
                && annotation.value == Ok(Value::Bool(true))
        })
    }
}

/// An action of another capability, called through `invoke`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Invocation {
    pub capability: String,
    pub action: String,
}

/// A type of event that a capability publishes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Publication {
    pub event_type: String,
    /// Whether capabilities of other publishers receive it only with the operator's approval.
    pub sensitive: bool,
}

/// A prompt of the Model Context Protocol.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub name: String,
    pub title: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
    /// `{name}` is replaced with the value of the argument of this name.
    pub text: String,
    /// Ids of the other capabilities without which the prompt is not listed.
    pub requires: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Beta,
    Stable,
    Deprecated,
}

#[derive(Debug, Clone)]
pub struct ActionDescriptor {
    pub name: String,
    pub title: String,
    pub description: String,
    pub access: Access,
    /// JSON Schema 2020-12; `Err` holds the text that is not JSON.
    pub input: Result<Value, String>,
    pub output: Result<Value, String>,
    pub idempotent: bool,
    pub destructive: bool,
    pub cost_credits: u32,
    pub errors: Vec<String>,
    pub emits: Vec<String>,
    /// The ids of the capabilities that may call an internal action.
    pub callers: Vec<String>,
    pub examples: Vec<Result<Value, String>>,
    pub deprecated: Option<String>,
}

impl ActionDescriptor {
    /// Returns the first example as the body of a call, with `action`.
    pub fn example(&self) -> Option<Value> {
        let example = self.examples.first()?.as_ref().ok()?.as_object()?;
        let mut body = Map::from_iter([("action".to_owned(), Value::from(self.name.as_str()))]);
        body.extend(example.clone());
        Some(Value::Object(body))
    }
}

#[derive(Debug, Clone)]
pub struct ErrorDeclaration {
    pub code: String,
    pub kind: ErrorKind,
    pub retryable: bool,
    pub description: String,
}

#[derive(Debug, Clone)]
pub struct Collection {
    pub name: String,
    pub indexes: Vec<Index>,
    pub text: Vec<String>,
    pub geo: Option<Geo>,
    /// The version of the documents' form, from 1.
    pub version: u32,
    /// The people whom the documents name; `None` if the collection does not declare whom they name.
    pub people: Option<Vec<Person>>,
}

#[derive(Debug, Clone)]
pub struct Index {
    pub name: String,
    pub paths: Vec<String>,
    pub unique: bool,
}

#[derive(Debug, Clone)]
pub struct Geo {
    pub latitude: String,
    pub longitude: String,
}

#[derive(Debug, Clone)]
pub struct Subscription {
    pub event_type: String,
    pub action: String,
}

/// The states of one kind of resource, and the transitions that actions make.
#[derive(Debug, Clone, Serialize)]
pub struct StateMachine {
    pub name: String,
    pub states: Vec<String>,
    pub transitions: Vec<Transition>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Transition {
    pub action: String,
    /// The states before the action; empty if the action creates the resource.
    pub from: Vec<String>,
    /// The states after the action; empty if the state does not change.
    pub to: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}
