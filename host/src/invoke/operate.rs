//! Internal actions that the operator runs: what a capability leaves to whoever is responsible for
//! the host, such as taking a listing down.

use crate::{
    invoke::{Host, due::Internal},
    vocabulary::Failure,
};
use serde_json::Value;
use std::sync::Arc;

/// How the audit log names the operator.
const OPERATOR: &str = "operator";

/// An action of access `internal`, and what it is to be given.
#[derive(Debug)]
pub struct Operation {
    pub capability: String,
    pub action: String,
    pub input: Value,
    /// Among the identities of test mode.
    pub test_mode: bool,
}

impl Host {
    /// Runs it as the host itself and answers its output.
    pub async fn operate(self: &Arc<Self>, operation: Operation) -> Result<Value, Failure> {
        let order = Internal {
            capability: &operation.capability,
            action: &operation.action,
            input: &operation.input.to_string(),
            test_mode: operation.test_mode,
            via: Some(OPERATOR),
            task: None,
        };
        self.run_internal(order).await
    }
}
