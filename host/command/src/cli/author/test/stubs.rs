//! The answers of other capabilities, as a case gives them.

use super::{
    case::{Stub, StubError},
    pattern::{Difference, matches},
};
use portolan_pipeline::CalleeStubs;
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, Invocation};
use serde_json::Value;
use std::{
    borrow::Cow,
    sync::{Mutex, PoisonError},
};

/// The answers of a case. A call gets the first matching answer that was not given yet; if all were given, it
/// gets the last one that matches.
#[derive(Debug)]
pub(super) struct Stubs {
    stubs: Vec<Stub>,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// The positions of the answers that were given.
    answered: Vec<usize>,
    /// The calls without an answer, with their inputs.
    unanswered: Vec<(Invocation, String)>,
}

impl Stubs {
    pub(super) fn new(stubs: Vec<Stub>) -> Self {
        Self { stubs, calls: Mutex::default() }
    }

    /// Returns a difference for each call without an answer, and for each answer without a call.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let unanswered = calls.unanswered.iter().map(|(callee, input)| Difference {
            at: "calls".to_owned(),
            expected: "`calls` of the case has an answer for each nested call".to_owned(),
            actual: format!(
                "no answer for {0}.{1} {input}; add to \"calls\": {{\"capability\": \"{0}\", \"action\": \"{1}\", \"output\": {{…}}}}",
                callee.capability, callee.action
            ),
        });
        let stubs = self.stubs.iter().enumerate();
        let unused = stubs.filter(|(index, _)| !calls.answered.contains(index));
        let unused = unused.map(|(index, stub)| Difference {
            at: format!("calls[{index}]"),
            expected: format!("{}.{}", stub.capability, stub.action),
            actual: "no such call".to_owned(),
        });
        unanswered.chain(unused).collect()
    }
}

impl CalleeStubs for Stubs {
    fn answer(&self, callee: &Invocation, input: &Value) -> Result<Value, Failure> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let matching =
            self.stubs.iter().enumerate().filter(|(_, stub)| stub.matches_call(callee, input));
        let matching: Vec<_> = matching.collect();
        let next_unused = matching.iter().find(|(index, _)| !calls.answered.contains(index));
        match next_unused.or(matching.last()) {
            Some((index, stub)) => {
                calls.answered.push(*index);
                stub.answer()
            }
            None => {
                calls.unanswered.push((callee.clone(), input.to_string()));
                Err(Failure::new(ErrorCode::DependencyUnavailable))
            }
        }
    }
}

impl Stub {
    fn matches_call(&self, callee: &Invocation, input: &Value) -> bool {
        self.capability == callee.capability
            && self.action == callee.action
            && self.input.as_ref().is_none_or(|pattern| matches(pattern, input))
    }

    fn answer(&self) -> Result<Value, Failure> {
        match &self.error {
            Some(error) => Err(error.failure()),
            None => Ok(self.output.clone().unwrap_or_default()),
        }
    }
}

impl StubError {
    /// Returns the failure of a common code, or of a code that the other capability has declared.
    fn failure(&self) -> Failure {
        let common = ErrorCode::from_name(&self.code).map(Failure::new);
        let mut failure = common.unwrap_or_else(|| Failure {
            error_code: Cow::Owned(self.code.clone()),
            message: Cow::Borrowed("The stub of the case refuses."),
            retryable: false,
            conflict: None,
            next: None,
            kind: ErrorKind::Conflict,
        });
        if let Some(message) = &self.message {
            failure.message = Cow::Owned(message.clone());
        }
        failure.retryable = self.retryable.unwrap_or(failure.retryable);
        failure.conflict = self.conflict.clone().map(Box::new);
        failure.next = self.next.clone().map(Box::new);
        failure
    }
}
