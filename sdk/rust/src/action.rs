//! Makes the descriptor's record of an action from a typed function, and runs the function for a
//! call of the contract.

use crate::{
    answer::{Outcome, Refusal, Refusals},
    contract::{
        Descriptor, Failure, Success,
        description::{
            Access, Action, Annotation, Collection, Error, Invocation, Prompt, Publication,
            StateMachine, Status, Subscription,
        },
    },
};
use portolan_codes::ErrorCode;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A capability's descriptor without its actions.
#[derive(Debug)]
pub struct Head {
    pub id: String,
    pub version: String,
    pub title: String,
    pub summary: String,
    pub description: String,
    pub tags: Vec<String>,
    pub status: Status,
    pub sunset_at: Option<u64>,
    pub successor: Option<String>,
    pub default_action: Option<String>,
    pub collections: Vec<Collection>,
    pub invokes: Vec<Invocation>,
    pub subscriptions: Vec<Subscription>,
    pub state_machines: Vec<StateMachine>,
    pub roles: Vec<String>,
    pub prompts: Vec<Prompt>,
    pub annotations: Vec<Annotation>,
}

/// An action of the descriptor, with what the descriptor lists once for all actions.
#[derive(Debug)]
pub struct Declared {
    pub action: Action,
    pub errors: Vec<Error>,
    pub publishes: Vec<Publication>,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            id: String::new(),
            version: String::new(),
            title: String::new(),
            summary: String::new(),
            description: String::new(),
            tags: Vec::new(),
            status: Status::Stable,
            sunset_at: None,
            successor: None,
            default_action: None,
            collections: Vec::new(),
            invokes: Vec::new(),
            subscriptions: Vec::new(),
            state_machines: Vec::new(),
            roles: Vec::new(),
            prompts: Vec::new(),
            annotations: Vec::new(),
        }
    }
}

impl Head {
    /// Returns the whole descriptor. A code or event type that several actions declare is listed once.
    pub fn build(self, declared: Vec<Declared>) -> Descriptor {
        let (mut actions, mut errors, mut publishes) = (Vec::new(), Vec::new(), Vec::new());
        for declared in declared {
            add_new(&mut errors, declared.errors, |error: &Error| error.code.clone());
            add_new(&mut publishes, declared.publishes, |publication: &Publication| {
                publication.event_type.clone()
            });
            actions.push(declared.action);
        }
        Descriptor {
            id: self.id,
            version: self.version,
            title: self.title,
            summary: self.summary,
            description: self.description,
            tags: self.tags,
            status: self.status,
            sunset_at: self.sunset_at,
            successor: self.successor,
            actions,
            default_action: self.default_action,
            errors,
            collections: self.collections,
            invokes: self.invokes,
            publishes,
            subscriptions: self.subscriptions,
            state_machines: self.state_machines,
            roles: self.roles,
            prompts: self.prompts,
            annotations: self.annotations,
        }
    }
}

/// Adds the values whose key is not in the list yet.
fn add_new<T>(list: &mut Vec<T>, values: Vec<T>, key: impl Fn(&T) -> String) {
    for value in values {
        if !list.iter().any(|known| key(known) == key(&value)) {
            list.push(value);
        }
    }
}

/// The annotation of an action of access `write` that suspended people may call as well: `true`.
pub const WHILE_SUSPENDED: &str = "portolan/while_suspended";

/// The annotation of an action of access `write` or `internal` that has no dry run: `#[action(no_dry_run)]`.
pub const NO_DRY_RUN: &str = "portolan/no_dry_run";

/// The annotation of an action of access `internal` whose text programs read under a secret address:
/// `annotations = [(portolan_sdk::PUBLISHED, Published::of("text/calendar"))]`. It takes `secret` and returns `text`.
pub const PUBLISHED: &str = "portolan/published";

/// The value of the annotation [`PUBLISHED`].
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Published {
    media_type: &'static str,
}

impl Published {
    /// Makes the declaration of a text of this media type, which must be one that the host serves.
    pub const fn of(media_type: &'static str) -> Self {
        Self { media_type }
    }
}

/// The annotation of the capability with its tools: `#[capability(tools = [Tool { … }])]`.
pub const TOOLS: &str = "portolan/tools";

/// The annotation of an action with what people want when it is right for them:
/// `#[action(intents = ["find a flat"])]`.
pub const INTENTS: &str = "portolan/intents";

/// A tool for clients of MCP: some actions of the capability; either all of them only read, or none does. The
/// actions that are in no tool get tools of the host: one for those that read, one for those that write, one for the
/// destructive ones.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// The name of the task in snake_case, which follows the capability's in the name of the tool.
    pub name: &'static str,
    pub title: &'static str,
    /// The task of the tool, in the first line; then when to use it, and what to use for something similar.
    pub description: &'static str,
    /// The names of its actions, the most important one first.
    pub actions: &'static [&'static str],
    /// Whether it belongs among the few tools that a host lists by default.
    pub default: bool,
}

/// Returns the record of an annotation. Its value is the JSON text of `value`.
pub fn annotation(key: &str, value: &(impl Serialize + ?Sized)) -> Annotation {
    Annotation { key: key.into(), value: to_json(value) }
}

/// Returns the descriptor's record of an action, with the schemas of its types. Without `examples`, the
/// examples of the input's fields together are the only example.
pub fn declare<I: JsonSchema, O: Outcome, E: Refusals>(
    name: &str,
    title: &str,
    description: &str,
    access: Access,
    examples: Vec<String>,
) -> Action {
    let input = schema::<I>(SchemaSettings::draft2020_12());
    let examples = if examples.is_empty() { example_of(&input) } else { examples };
    Action {
        name: name.into(),
        title: title.into(),
        description: description.into(),
        access,
        input,
        output: schema::<O::Output>(SchemaSettings::draft2020_12().for_serialize()),
        idempotent: false,
        destructive: false,
        cost_credits: 0,
        errors: E::declarations().into_iter().map(|error| error.code).collect(),
        emits: Vec::new(),
        callers: Vec::new(),
        examples,
        deprecated: None,
        annotations: Vec::new(),
    }
}

/// Returns an example made of the examples of an input's fields; an empty list if no field has an
/// example, or a required field has none.
fn example_of(schema: &str) -> Vec<String> {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return Vec::new() };
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let made: serde_json::Map<String, Value> = fields
        .filter_map(|(name, field)| Some((name.clone(), field.get("examples")?.get(0)?.clone())))
        .collect();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let has_all = required.filter_map(Value::as_str).all(|name| made.contains_key(name));
    if made.is_empty() || !has_all { Vec::new() } else { vec![Value::Object(made).to_string()] }
}

fn schema<T: JsonSchema>(mut settings: SchemaSettings) -> String {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.as_value().to_string()
}

/// Runs an action's function on the input's JSON text. An input that cannot be parsed as `I` is
/// refused with `validation_failed`.
pub fn run<I, O, E>(
    input: &str,
    function: impl FnOnce(I) -> Result<O, E>,
) -> Result<Success, Failure>
where
    I: DeserializeOwned,
    O: Outcome,
    E: Into<Refusal>,
{
    let input = serde_json::from_str(input)
        .map_err(|error| Failure::from(Refusal::validation("", "type", error.to_string())))?;
    match function(input) {
        Ok(outcome) => {
            let (output, next) = outcome.into_answer().into_parts();
            Ok(Success { output: to_json(&output), next: next.map(|next| to_json(&next)) })
        }
        Err(refusal) => Err(refusal.into().into()),
    }
}

/// Returns the refusal for an action that the capability does not have. The host never calls one.
pub fn unknown_action(action: &str) -> Result<Success, Failure> {
    let message = format!("There is no action {action}.");
    Err(Refusal::common(ErrorCode::InternalError, message).into())
}

/// Returns the JSON text of a value. A value without one (a map whose keys are not strings) traps the call.
#[expect(clippy::expect_used, reason = "a guest reports a bug by a trap")]
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("the value has a JSON form")
}

/// Returns a value as JSON. Traps the call in the same case as [`to_json`].
#[expect(clippy::expect_used, reason = "a guest reports a bug by a trap")]
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).expect("the value has a JSON form")
}

/// Deserializes an `Option<Option<_>>` of an input, with `#[serde(default)]`: `None` if the field
/// was left out, `Some(None)` if it is null. `#[input]` uses this function.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Makes a panic send its text to the host before the sandbox ends. Off WebAssembly it changes
/// nothing.
pub fn report_panics() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        for part in panic.to_string().as_bytes().chunks(64) {
            let mut numbers = part.chunks(8).map(|bytes| {
                let mut padded = [0; 8];
                padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                u64::from_le_bytes(padded)
            });
            let mut next = || numbers.next().unwrap_or(0);
            crate::contract::context::last_words(crate::contract::context::Words {
                a: next(),
                b: next(),
                c: next(),
                d: next(),
                e: next(),
                f: next(),
                g: next(),
                h: next(),
            });
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_fields_are_an_example_of_the_input() {
        let fields = r#"{"id":{"examples":["book_1"]},"words":{}}"#;
        let schema = |required: &str| format!(r#"{{"properties":{fields},"required":{required}}}"#);
        assert_eq!(example_of(&schema(r#"["id"]"#)), [r#"{"id":"book_1"}"#]);
        assert_eq!(example_of(&schema(r#"["id","words"]"#)), [""; 0]);
        assert_eq!(example_of(r#"{"properties":{"words":{}}}"#), [""; 0]);
    }
}
