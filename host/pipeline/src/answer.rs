//! Checks the answer of a component against its declaration, and makes the body of the response.

use crate::outcome::{Answer, Outcome};
use portolan_catalog::{Action, Capability};
use portolan_sandbox::GuestAnswer;
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, one_line};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The maximum number of bytes of the log's text about an invalid answer, which can quote the answer.
const FAULT_BYTES: usize = 1_024;

/// A refusal of a nested call, which the calling action may return without declaring its code.
#[derive(Debug, Clone)]
pub(super) struct PassedRefusal {
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
pub(super) fn keeps_contract(outcome: &Outcome) -> bool {
    outcome.as_ref().err().is_none_or(|failure| !failure.is(ErrorCode::CapabilityAnswerInvalid))
}

/// Returns the outcome of a component's answer; `capability_answer_invalid` if the answer does not satisfy
/// the declaration.
pub(super) fn check_answer(
    capability: &Capability,
    action: &Action,
    ending: GuestAnswer,
    request: &str,
    passed: &[PassedRefusal],
) -> Outcome {
    let broken = |what: &str| {
        let (id, name) = (&*capability.id, &action.descriptor.name);
        tracing::warn!(
            capability = id,
            action = name,
            request,
            "the answer of a component is invalid: {}",
            one_line(what, FAULT_BYTES)
        );
        Failure::new(ErrorCode::CapabilityAnswerInvalid)
    };
    let object = |text: Option<String>, what: &str| match text.as_deref().map(serde_json::from_str)
    {
        None => Ok(None),
        Some(Ok(value @ Value::Object(_))) => Ok(Some(value)),
        Some(_) => Err(broken(what)),
    };
    match ending {
        GuestAnswer::Success { output, next } => {
            let output: Value =
                serde_json::from_str(&output).map_err(|_| broken("its output is not JSON"))?;
            if let Some(conflict) = action.schemas.output.violations(&output) {
                return Err(broken(&format!(
                    "its output does not satisfy the output schema: {conflict}"
                )));
            }
            Ok((output, object(next, "its next step is not a JSON object")?))
        }
        GuestAnswer::Refused { code, message, conflict, next, keep_writes: _ } => {
            let mut failure = declared(capability, action, &code)
                .or_else(|| passed_on(passed, &code))
                .ok_or_else(|| broken(&format!("it did not declare the code {code}")))?;
            failure.message = Cow::Owned(message);
            failure.conflict = object(conflict, "its conflict is not a JSON object")?.map(Box::new);
            failure.next = object(next, "its next step is not a JSON object")?.map(Box::new);
            Err(failure)
        }
    }
}

fn passed_on(passed: &[PassedRefusal], code: &str) -> Option<Failure> {
    let passed = passed.iter().find(|passed| passed.code == code)?;
    Some(Failure {
        error_code: passed.code.clone(),
        message: Cow::Borrowed(""),
        retryable: passed.retryable,
        conflict: None,
        next: None,
        kind: passed.kind,
    })
}

/// Returns the failure for a code that the action declares, or for a common code that components may use;
/// `None` for another code.
pub(super) fn declared(capability: &Capability, action: &Action, code: &str) -> Option<Failure> {
    if let Some(code) = ErrorCode::from_name(code).filter(|code| code.row().component) {
        return Some(Failure::new(code));
    }
    let listed = action.descriptor.errors.iter().any(|listed| listed == code);
    let error = capability.descriptor.errors.iter().find(|error| listed && error.code == code)?;
    Some(Failure {
        error_code: Cow::Owned(error.code.clone()),
        message: Cow::Borrowed(""),
        retryable: error.retryable,
        conflict: None,
        next: None,
        kind: error.kind,
    })
}
