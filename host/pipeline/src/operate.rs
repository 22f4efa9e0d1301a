//! Actions that are run from outside of calls: internal ones by the operator, to whom a capability
//! leaves what takes somebody responsible, such as taking a listing down; and reads by a door that shows
//! what a capability knows to whoever asks.

use crate::{host::Host, system::Order};
use portolan_vocabulary::{Access, Failure};
use serde_json::Value;
use std::sync::Arc;

/// How the audit log names the operator.
const OPERATOR: &str = "operator";

/// An action, and what it is to be given.
#[derive(Debug)]
pub struct Operation {
    pub capability: String,
    pub action: String,
    pub input: Value,
    /// Among the identities of test mode.
    pub test_mode: bool,
}

impl Host {
    /// Runs an action of access `internal` as the operator and answers its output.
    pub async fn operate(self: &Arc<Self>, operation: &Operation) -> Result<Value, Failure> {
        self.run_from_outside(operation, Access::Internal, Some(OPERATOR)).await
    }

    /// Runs an action of access `read` as the host itself and answers its output.
    pub async fn show(self: &Arc<Self>, operation: &Operation) -> Result<Value, Failure> {
        self.run_from_outside(operation, Access::Read, None).await
    }

    async fn run_from_outside(
        self: &Arc<Self>,
        operation: &Operation,
        access: Access,
        via: Option<&'static str>,
    ) -> Result<Value, Failure> {
        let order = Order {
            capability: &operation.capability,
            action: &operation.action,
            access,
            input: &operation.input.to_string(),
            test_mode: operation.test_mode,
            via,
            task: None,
        };
        self.run_order(order).await
    }
}
