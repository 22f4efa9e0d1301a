//! Nested calls: calls of other capabilities as part of this call.
//!
//! The writes of both capabilities are committed together, or not at all. An action of another
//! capability is a constant; the capability lists those that it calls in `invokes`, and the host
//! refuses every other nested call.
//!
//! ```no_run
//! use portolan_sdk::{invoke::Invocation, prelude::*};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Spend {
//!     credits: u32,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Balance {
//!     credits: u32,
//! }
//!
//! const SPEND: Invocation<Spend, Balance> = Invocation::new("credits", "spend");
//!
//! struct Shop;
//!
//! /// Sells books.
//! #[capability(id = "shop", title = "Shop", invokes = [SPEND])]
//! impl Shop {
//!     /// Buy one. Without the credits, the answer is the refusal of the capability `credits`.
//!     #[action(access = write)]
//!     fn buy(_call: &Call, input: Spend) -> Result<Balance, Refusal> {
//!         SPEND.call(&input)
//!     }
//! }
//! ```

use crate::{
    answer::Refusal,
    contract::{Failure, description, invoke as host},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, marker::PhantomData};

/// An action of another capability, declared as a constant: its input is an `I`, its output an `O`.
pub struct Invocation<I: ?Sized, O> {
    capability: &'static str,
    action: &'static str,
    types: PhantomData<fn(&I) -> O>,
}

impl<I: ?Sized, O> Invocation<I, O> {
    /// Makes the invocation of the action with this name of the capability with this id.
    pub const fn new(capability: &'static str, action: &'static str) -> Self {
        Self { capability, action, types: PhantomData }
    }

    /// Returns the descriptor's record of this invocation.
    pub fn declaration(&self) -> description::Invocation {
        description::Invocation { capability: self.capability.into(), action: self.action.into() }
    }
}

impl<I: Serialize + ?Sized, O: DeserializeOwned> Invocation<I, O> {
    /// Runs the action for the same caller. `input` holds the action's own fields.
    ///
    /// A refusal is returned unchanged, and the callee's writes are rolled back. Return it with `?`, or
    /// match its `code` and continue. The code is `not_permitted` if the capability does not list
    /// this constant in `invokes`, or if the nested call needs the operator's permission and lacks
    /// it. An output that cannot be parsed as `O` traps the call.
    #[expect(clippy::panic, reason = "a guest reports a bug by a trap")]
    pub fn call(&self, input: &I) -> Result<O, Refusal> {
        let Self { capability, action, .. } = self;
        let success = host::call(capability, action, &crate::to_json(input)).map_err(passed_on)?;
        Ok(decode(&success.output).unwrap_or_else(|error| {
            let (line, column) = (error.line(), error.column());
            panic!(
                "the output of {capability} {action} has another form: line {line}, column {column}"
            )
        }))
    }
}

impl<I: ?Sized, O> Clone for Invocation<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: ?Sized, O> Copy for Invocation<I, O> {}

impl<I: ?Sized, O> fmt::Debug for Invocation<I, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Invocation").field(&self.capability).field(&self.action).finish()
    }
}

/// Parses an output. An action without an output answers `{}`, which is `()` here.
fn decode<T: DeserializeOwned>(output: &str) -> serde_json::Result<T> {
    serde_json::from_str(output).or_else(|error| match output {
        "{}" => serde_json::from_str("null").map_err(|_| error),
        _ => Err(error),
    })
}

/// Returns the callee's refusal without its `keep_writes`, because the caller decides about its own writes.
fn passed_on(failure: Failure) -> Refusal {
    Refusal { keep_writes: false, ..refusal(failure) }
}

/// Returns a failure of the contract as a refusal. A conflict or next step that cannot be parsed is
/// left out.
pub(crate) fn refusal(failure: Failure) -> Refusal {
    let parse = |text: String| serde_json::from_str(&text).ok();
    Refusal {
        code: failure.code,
        message: failure.message,
        conflict: failure.conflict.and_then(parse).map(Box::new),
        next: failure.next.and_then(|text| serde_json::from_str(&text).ok()).map(Box::new),
        keep_writes: failure.keep_writes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_without_an_output_answers_unit() {
        decode::<()>("{}").unwrap();
        assert!(decode::<()>(r#"{"id":1}"#).is_err());
        assert!(decode::<u64>("{}").is_err());
    }

    #[test]
    fn a_refusal_passes_unchanged_but_keeps_no_writes() {
        let next = r#"{"capability":"credits","input":{"n":1},"url":"https://pay.example"}"#;
        let failure = Failure {
            code: "insufficient_funds".into(),
            message: "There is too little.".into(),
            conflict: Some(r#"{"kind":"funds","missing":3}"#.into()),
            next: Some(next.into()),
            keep_writes: true,
        };
        let passed = Failure::from(passed_on(failure.clone()));
        assert_eq!(
            (passed.code, passed.message, passed.conflict, passed.next),
            (failure.code, failure.message, failure.conflict, failure.next)
        );
        assert!(!passed.keep_writes);
    }
}
