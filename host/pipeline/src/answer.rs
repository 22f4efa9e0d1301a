//! Checks the answer of a component against its declaration, and makes the body of the response.

use crate::outcome::{Answer, Outcome};
use portolan_catalog::{Action, Capability};
use portolan_sandbox::GuestAnswer;
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, one_line, printable};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The maximum number of bytes of the log's text about an invalid answer, which can quote the answer.
const FAULT_BYTES: usize = 1_024;

/// A refusal of a nested call, which the calling action may return without declaring its code.
#[derive(Debug, Clone)]
pub(super) struct NestedRefusal {
    pub(super) code: Cow<'static, str>,
    pub(super) kind: ErrorKind,
    pub(super) retryable: bool,
}

impl Answer {
    /// Returns the body `{result, meta, next?}` without a copy of the result.
    pub fn into_body(self) -> Value {
        let Self { result, meta, next } = self;
        let body = [("result", Some(result)), ("meta", Some(json!(meta))), ("next", next)];
        let member = |(name, value): (&str, Option<Value>)| Some((name.to_owned(), value?));
        Value::Object(body.into_iter().filter_map(member).collect())
    }
}

/// Returns whether the answer, if there is one, satisfies the declaration. If it does not, no writes are
/// kept.
pub(super) fn satisfies_declaration(outcome: &Outcome) -> bool {
    outcome
        .as_ref()
        .err()
        .is_none_or(|failure| !failure.has_code(ErrorCode::CapabilityAnswerInvalid))
}

/// Returns the outcome of a component's answer; `capability_answer_invalid` if the answer does not satisfy
/// the declaration.
pub(super) fn check_answer(
    capability: &Capability,
    action: &Action,
    answer: GuestAnswer,
    request: &str,
    nested_refusals: &[NestedRefusal],
) -> Outcome {
    let invalid_answer = |reason: &str| {
        let (id, name) = (&*capability.id, &action.descriptor.name);
        tracing::warn!(
            capability = id,
            action = name,
            request,
            "the answer of a component is invalid: {}",
            one_line(reason, FAULT_BYTES)
        );
        Failure::new(ErrorCode::CapabilityAnswerInvalid)
    };
    let parse_object =
        |text: Option<String>, reason: &str| match text.as_deref().map(serde_json::from_str) {
            None => Ok(None),
            Some(Ok(value @ Value::Object(_))) => Ok(Some(value)),
            Some(_) => Err(invalid_answer(reason)),
        };
    let parse_next = |text| {
        let mut next = parse_object(text, "its next step is not a JSON object")?;
        if let Some(Value::String(question)) =
            next.as_mut().and_then(|next| next.get_mut("ask_user"))
        {
            *question = printable(question);
        }
        Ok::<_, Failure>(next)
    };
    match answer {
        GuestAnswer::Success { output, next } => {
            let output: Value = serde_json::from_str(&output)
                .map_err(|_| invalid_answer("its output is not JSON"))?;
            if let Some(conflict) = action.schemas.output.violations(&output) {
                return Err(invalid_answer(&format!(
                    "its output does not fit its declaration: {}; correct the answer or the declaration",
                    describe_violations(&conflict, &output)
                )));
            }
            Ok((output, parse_next(next)?))
        }
        GuestAnswer::Refused { code, message, conflict, next, keep_writes: _ } => {
            let mut failure = declared_failure(capability, action, &code)
                .or_else(|| find_nested_refusal(nested_refusals, &code))
                .ok_or_else(|| invalid_answer(&format!("it did not declare the code {code}")))?;
            failure.message = Cow::Owned(printable(&message));
            failure.conflict =
                parse_object(conflict, "its conflict is not a JSON object")?.map(Box::new);
            failure.next = parse_next(next)?.map(Box::new);
            Err(failure)
        }
    }
}

/// Describes the declared and the actual value of each member that breaks the schema: only the kind of the
/// actual one, because the value can be personal data.
fn describe_violations(conflict: &Value, output: &Value) -> String {
    let errors = conflict.get("errors").and_then(Value::as_array).into_iter().flatten();
    let sentences: Vec<_> = errors.map(|error| describe_violation(error, output)).collect();
    sentences.join("; ")
}

fn describe_violation(error: &Value, output: &Value) -> String {
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let (pointer, rule) = (text("pointer"), text("rule"));
    let member = if pointer.is_empty() { "the output" } else { pointer };
    let expected = error.get("expected").unwrap_or(&Value::Null);
    match (rule, output.pointer(pointer)) {
        ("required", _) => format!("{member} is declared and is missing"),
        ("additionalProperties" | "unevaluatedProperties", _) => {
            let declared = expected.as_array().into_iter().flatten().filter_map(Value::as_str);
            let declared: Vec<_> = declared.collect();
            format!("{member} is not declared; the declared members are: {}", declared.join(", "))
        }
        (_, came) => {
            let came = came.map_or("nothing", kind_of);
            format!("{member} is {came}, and the declaration says {rule} {expected}")
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(text) if text.is_empty() => "an empty string",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn find_nested_refusal(nested_refusals: &[NestedRefusal], code: &str) -> Option<Failure> {
    let refusal = nested_refusals.iter().find(|refusal| refusal.code == code)?;
    Some(Failure {
        error_code: refusal.code.clone(),
        message: Cow::Borrowed(""),
        retryable: refusal.retryable,
        conflict: None,
        next: None,
        kind: refusal.kind,
    })
}

/// Returns the failure for a code that the action declares, or for a common code that components may use;
/// `None` for another code.
pub(super) fn declared_failure(
    capability: &Capability,
    action: &Action,
    code: &str,
) -> Option<Failure> {
    if let Some(code) = ErrorCode::from_name(code).filter(|code| code.row().component) {
        return Some(Failure::new(code));
    }
    let is_declared = action.descriptor.errors.iter().any(|declared| declared == code);
    let error =
        capability.descriptor.errors.iter().find(|error| is_declared && error.code == code)?;
    Some(Failure {
        error_code: Cow::Owned(error.code.clone()),
        message: Cow::Borrowed(""),
        retryable: error.retryable,
        conflict: None,
        next: None,
        kind: error.kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_the_member_the_declaration_and_what_came() {
        let output = json!({ "books": [{ "title": 5, "note": "secret" }] });
        let conflict = json!({ "kind": "validation", "errors": [
            { "pointer": "/books/0/title", "rule": "type", "expected": "string" },
            { "pointer": "/books/0/isbn", "rule": "required", "expected": { "type": "string" } },
            { "pointer": "/books/0/note", "rule": "additionalProperties", "expected": ["title", "isbn"] },
        ] });
        assert_eq!(
            describe_violations(&conflict, &output),
            "/books/0/title is an integer, and the declaration says type \"string\"; \
             /books/0/isbn is declared and is missing; \
             /books/0/note is not declared; the declared members are: title, isbn"
        );
    }
}
