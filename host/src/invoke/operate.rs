//! Internal actions that are run from outside of calls: by the operator, to whom a capability leaves
//! what takes somebody responsible, such as taking a listing down; and by a door that shows what a
//! capability knows to whoever asks.

use crate::{
    invoke::{Host, due::Internal},
    vocabulary::Failure,
};
use serde_json::Value;
use std::sync::Arc;

/// How the audit log names the operator.
pub const OPERATOR: &str = "operator";

/// An action of access `internal`, and what it is to be given.
#[derive(Debug)]
pub struct Operation {
    pub capability: String,
    pub action: String,
    pub input: Value,
    /// Among the identities of test mode.
    pub test_mode: bool,
    /// How the audit log names whose doing it is.
    pub by: &'static str,
}

impl Host {
    /// Runs it as the host itself and answers its output.
    pub async fn operate(self: &Arc<Self>, operation: Operation) -> Result<Value, Failure> {
        let order = Internal {
            capability: &operation.capability,
            action: &operation.action,
            input: &operation.input.to_string(),
            test_mode: operation.test_mode,
            via: Some(operation.by),
            task: None,
        };
        self.run_internal(order).await
    }
}
