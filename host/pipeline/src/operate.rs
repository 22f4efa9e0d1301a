//! Operator calls, which are internal actions that an operator runs, such as the removal of a listing; the
//! rows of operators' other decisions; and reads and internal actions for the pages of the host and for what it publishes.

use crate::{host::Host, system::SystemCall};
use portolan_store::{Attachments, AuditRecord, DbError, Unit};
use portolan_vocabulary::{Access, AgentCaller, Caller, Failure, Operator};
use serde_json::Value;
use std::sync::Arc;

/// An action with its input.
#[derive(Debug)]
pub struct Operation {
    pub capability: String,
    pub action: String,
    pub input: Value,
    /// Whether the action runs in test mode.
    pub test_mode: bool,
}

impl Host {
    /// Runs an action of access `internal` for an operator and returns its output.
    pub async fn operate(
        self: &Arc<Self>,
        operation: &Operation,
        operator: &Operator,
    ) -> Result<Value, Failure> {
        let caller = Caller::System { test_mode: operation.test_mode };
        self.run_operation(operation, caller, Access::Internal, Some(operator.caller())).await
    }

    /// Returns the row of the audit log for something that an operator has decided now.
    pub fn decision(&self, action: &str, operator: &Operator) -> AuditRecord {
        AuditRecord::of_operator(action, operator, self.clock.now())
    }

    /// Writes the row of a decision that belongs to no unit of work.
    pub async fn record_decision(&self, row: AuditRecord) -> Result<(), DbError> {
        let unit = Unit::new(self.store.clone(), row.at);
        let attachments = Attachments { audit: Some(row), ..Attachments::default() };
        unit.commit(attachments).await.map(drop).map_err(DbError::Shared)
    }

    /// Runs an action of access `internal` as the host itself and returns its output.
    pub async fn run_internal(self: &Arc<Self>, operation: &Operation) -> Result<Value, Failure> {
        let caller = Caller::System { test_mode: operation.test_mode };
        self.run_operation(operation, caller, Access::Internal, None).await
    }

    /// Runs an action of access `internal` in the name of an agent, whose person has decided so on a page of
    /// the host, and returns its output.
    pub async fn run_for_agent(
        self: &Arc<Self>,
        operation: &Operation,
        agent: AgentCaller,
    ) -> Result<Value, Failure> {
        self.run_operation(operation, Caller::Agent(agent), Access::Internal, None).await
    }

    /// Runs an action of access `read` as the host itself and returns its output.
    pub async fn read(self: &Arc<Self>, operation: &Operation) -> Result<Value, Failure> {
        let caller = Caller::System { test_mode: operation.test_mode };
        self.run_operation(operation, caller, Access::Read, None).await
    }

    async fn run_operation(
        self: &Arc<Self>,
        operation: &Operation,
        caller: Caller,
        access: Access,
        via: Option<String>,
    ) -> Result<Value, Failure> {
        let call = SystemCall {
            capability: &operation.capability,
            action: &operation.action,
            access,
            input: &operation.input.to_string(),
            caller,
            via,
            task: None,
            trace: None,
            has_secret: false,
            dry_run: false,
        };
        self.run_system_call(call).await
    }

    /// Runs an action of access `internal` as the host itself, for a text that programs read under a secret address.
    /// Its writes are discarded, and nothing of it is recorded.
    pub async fn read_published(self: &Arc<Self>, operation: &Operation) -> Result<Value, Failure> {
        let call = SystemCall {
            capability: &operation.capability,
            action: &operation.action,
            access: Access::Internal,
            input: &operation.input.to_string(),
            caller: Caller::System { test_mode: operation.test_mode },
            via: None,
            task: None,
            trace: None,
            has_secret: true,
            dry_run: true,
        };
        self.run_system_call(call).await
    }
}
