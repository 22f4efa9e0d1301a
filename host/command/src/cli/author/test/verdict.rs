//! The actual outcome of a case, and its differences from the expected one.

use super::{
    case::{Case, Expected, ID_MEMBER},
    files::CaseLocation,
    pattern::{Difference, compare},
};
use portolan_pipeline::Effects;
use portolan_store::{Audience, Document, NewEvent};
use portolan_vocabulary::Failure;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The outcome of one case.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) name: String,
    pub(super) location: CaseLocation,
    /// The actual parts of the outcome, by name: `expect`, `after`, `events` and `timers`.
    pub(super) actual: Map<String, Value>,
    pub(super) differences: Vec<Difference>,
    /// Another capability to which the next step leads.
    pub(super) foreign_step: Option<String>,
    pub(super) time: Duration,
}

impl Verdict {
    pub(super) fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Returns the actual parts of the outcome.
pub(super) fn actual_parts(
    outcome: Result<(Value, Option<Value>), Failure>,
    effects: &Effects,
    after: Map<String, Value>,
) -> Map<String, Value> {
    let expect = match outcome {
        Ok((output, None)) => json!({ "output": output }),
        Ok((output, Some(next))) => json!({ "output": output, "next": next }),
        Err(failure) => json!({ "error": error(failure) }),
    };
    let timers = effects.timers.iter().map(
        |(at, action, input)| json!({ "action": action, "at": at, "input": parse_or_null(input) }),
    );
    Map::from_iter([
        ("expect".to_owned(), expect),
        ("after".to_owned(), Value::Object(after)),
        ("events".to_owned(), effects.events.iter().map(event).collect()),
        ("timers".to_owned(), timers.collect()),
    ])
}

fn error(failure: Failure) -> Value {
    let Failure { error_code, message, retryable, conflict, next, kind: _ } = failure;
    let members = [
        ("code", Some(json!(error_code))),
        ("message", Some(json!(message))),
        ("retryable", Some(json!(retryable))),
        ("conflict", conflict.map(|conflict| *conflict)),
        ("next", next.map(|next| *next)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn event(event: &NewEvent) -> Value {
    let audience = match &event.audience {
        Audience::Agent(id) => json!({ "agent": id }),
        Audience::Owner(id) => json!({ "owner": id }),
        Audience::Capabilities | Audience::Listeners | Audience::Webhook { .. } => {
            json!("capabilities")
        }
    };
    let (name, subject) = (&event.event_type, &event.subject);
    json!({ "type": name, "subject": subject, "to": audience, "data": parse_or_null(&event.data) })
}

/// Returns a document as a case writes it.
pub(super) fn document(document: Document) -> Value {
    let mut case_document = Map::from_iter([(ID_MEMBER.to_owned(), Value::String(document.id))]);
    if let Value::Object(members) = parse_or_null(&document.body) {
        case_document.extend(members);
    }
    Value::Object(case_document)
}

fn parse_or_null(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Compares the parts that a case expects with the actual ones. A case that expects nothing
/// differs, so that it is recorded.
pub(super) fn differences(case: &Case, actual: &Map<String, Value>) -> Vec<Difference> {
    let expect = case.expect.as_ref().map(expected_part);
    let after = case.after.clone().map(Value::Object);
    let parts = [
        ("expect", expect),
        ("after", after),
        ("events", case.events.clone()),
        ("timers", case.timers.clone()),
    ];
    let mut differences = Vec::new();
    for (name, pattern) in parts {
        if let (Some(pattern), Some(actual)) = (pattern, actual.get(name)) {
            compare_part(name, &pattern, actual, &mut differences);
        }
    }
    if case.is_unrecorded() {
        differences.push(Difference {
            at: "expect".to_owned(),
            expected: "what is to come; `portolan test --update` records it".to_owned(),
            actual: actual.get("expect").map(Value::to_string).unwrap_or_default(),
        });
    }
    differences
}

/// Compares a part. An output instead of an error, or the reverse, is one difference for the whole
/// part.
fn compare_part(name: &str, pattern: &Value, actual: &Value, differences: &mut Vec<Difference>) {
    let is_other_kind = ["output", "error"]
        .into_iter()
        .any(|kind| name == "expect" && pattern.get(kind).is_some() && actual.get(kind).is_none());
    match is_other_kind {
        true => differences.push(Difference {
            at: name.to_owned(),
            expected: pattern.to_string(),
            actual: actual.to_string(),
        }),
        false => compare(name, pattern, actual, differences),
    }
}

fn expected_part(expected: &Expected) -> Value {
    let Expected { output, next, error } = expected.clone();
    let members = [("output", output), ("next", next), ("error", error)];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
