//! The answer of an action: an output, or a refusal.

use crate::contract::{Failure, description};
use portolan_codes::ErrorCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::convert::Infallible;

/// The input of an action without fields.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NoInput {}

/// The output of an action without fields.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NoOutput {}

/// An output with the most likely next step.
#[derive(Debug)]
pub struct Answer<T> {
    output: T,
    next: Option<Next>,
}

impl<T> Answer<T> {
    /// Makes an answer of an output and, perhaps, the most likely next step.
    pub fn with(output: T, next: Option<Next>) -> Self {
        Self { output, next }
    }

    pub fn new(output: T) -> Self {
        Self { output, next: None }
    }

    #[must_use]
    pub fn next(mut self, next: impl Into<Next>) -> Self {
        self.next = Some(next.into());
        self
    }
}

/// The success of an action: a serializable output, or an [`Answer`] around one.
pub trait Outcome {
    type Output: Serialize + JsonSchema;
    fn into_answer(self) -> Answer<Self::Output>;
}

impl<T: Serialize + JsonSchema> Outcome for T {
    type Output = T;
    fn into_answer(self) -> Answer<T> {
        Answer::new(self)
    }
}

impl<T: Serialize + JsonSchema> Outcome for Answer<T> {
    type Output = T;
    fn into_answer(self) -> Self {
        self
    }
}

impl<T> Answer<T> {
    pub(crate) fn into_parts(self) -> (T, Option<Next>) {
        (self.output, self.next)
    }
}

/// A next step: a call, the fields that the caller must still find out, and the earliest time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Next(Map<String, Value>);

impl Next {
    /// Makes a call of this capability.
    pub fn call(capability: impl Into<String>) -> Self {
        Self(Map::from_iter([
            ("capability".into(), Value::String(capability.into())),
            ("input".into(), Value::Object(Map::new())),
        ]))
    }

    /// Makes a call of one action of this capability.
    pub fn action(capability: impl Into<String>, action: &str) -> Self {
        Self::call(capability).field("action", action)
    }

    /// Adds a field to the call's body, such as `action`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        if let Some(Value::Object(input)) = self.0.get_mut("input") {
            input.insert(name.into(), value.into());
        }
        self
    }

    /// Adds a field that the caller must find out first, with the question for the person. A second
    /// question replaces the first one.
    #[must_use]
    pub fn ask(mut self, field: impl Into<String>, question: impl Into<String>) -> Self {
        let missing = self.0.entry("missing").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(missing) = missing {
            missing.push(Value::String(field.into()));
        }
        self.with("ask_user", question.into())
    }

    /// Returns the first step of a claim: the person behind the agent gets a code by phone.
    pub fn claim() -> Self {
        Self::call("svc.phone-binding")
            .field("action", "bind")
            .ask("phone", "Which mobile number may I send a code to?")
    }

    /// Adds that the refused call succeeds if it is repeated after this step.
    #[must_use]
    pub fn then_retry(self) -> Self {
        self.with("then", "retry_original")
    }

    /// Adds the number of seconds after which the step can be taken.
    #[must_use]
    pub fn after_s(self, seconds: u32) -> Self {
        self.with("after_s", seconds)
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }
}

/// A refusal on its way to the caller. Usually made from an enum with `#[derive(Refusals)]`.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub code: String,
    pub message: String,
    pub conflict: Option<Box<Value>>,
    pub next: Option<Box<Next>>,
    pub keep_writes: bool,
}

impl Refusal {
    /// Makes a refusal with a common code and a message of the capability's own. If only the host
    /// may use the code, callers get `capability_answer_invalid` instead.
    pub fn common(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.name().to_owned(),
            message: message.into(),
            conflict: None,
            next: None,
            keep_writes: false,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(Box::new(next));
        self
    }

    /// Adds the cause of the refusal, for programs: a value that serializes to an object with a `kind`.
    #[must_use]
    pub fn conflict(mut self, conflict: &impl Serialize) -> Self {
        self.conflict = Some(Box::new(crate::to_value(conflict)));
        self
    }

    /// Returns `validation_failed`, for a rule that a JSON Schema cannot express. `pointer` is a JSON
    /// Pointer (RFC 6901) into the call's body.
    pub fn validation(pointer: &str, rule: &str, expected: impl Into<Value>) -> Self {
        Self::common(ErrorCode::ValidationFailed, "A field of the input is not acceptable.")
            .conflict(&serde_json::json!({
                "kind": "validation",
                "errors": [{ "pointer": pointer, "rule": rule, "expected": expected.into() }],
            }))
    }
}

impl From<Infallible> for Refusal {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self {
            code: refusal.code,
            message: refusal.message,
            conflict: refusal.conflict.map(|conflict| conflict.to_string()),
            next: refusal.next.map(|next| crate::to_json(&next)),
            keep_writes: refusal.keep_writes,
        }
    }
}

/// The error codes of an action. Derived for an enum with one variant per code:
///
/// - the variant's name in `snake_case` is the code (or `code = "…"`),
/// - the first paragraph of its doc comment is the message that callers read,
/// - `#[refusal(kind)]` is its kind: `invalid`, `unprocessable`, `payment_required`,
///   `forbidden`, `not_found`, `conflict`, `gone`, `too_many`, `upstream`, `unavailable`,
/// - `retryable` if the same call can succeed later, `keep_writes` to commit the call's writes,
/// - `next = …` is the next step, `conflict_detail = …` the cause; both may use the variant's fields,
/// - a variant `#[refusal(transparent)] Common(Refusal)` carries one of the host's common codes, or
///   the refusal of a capability that was invoked; with it, `?` also turns a [`HostError`] into a
///   refusal,
/// - a variant `#[refusal(transparent)] Text(TextError)` takes over the codes of another such enum,
///   and `?` turns its refusals into these.
///
/// [`HostError`]: crate::HostError
pub trait Refusals: Into<Refusal> {
    fn declarations() -> Vec<description::Error>;
}

impl Refusals for Infallible {
    fn declarations() -> Vec<description::Error> {
        Vec::new()
    }
}

/// For an action that refuses with the common codes only.
impl Refusals for Refusal {
    fn declarations() -> Vec<description::Error> {
        Vec::new()
    }
}
