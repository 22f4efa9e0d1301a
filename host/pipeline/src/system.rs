//! Actions that the host runs itself, as the caller `system`.

use crate::{
    execution::{ensure_input, find},
    host::Host,
    run::Run,
};
use portolan_sandbox::CallContext;
use portolan_store::Task;
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure, new_request_id};
use serde_json::Value;
use std::{sync::Arc, time::Instant};

/// An action to be run by the host.
pub(super) struct Order<'a> {
    pub(super) capability: &'a str,
    pub(super) action: &'a str,
    /// The access class that the action must have.
    pub(super) access: Access,
    /// JSON.
    pub(super) input: &'a str,
    pub(super) test_mode: bool,
    /// The name of the requester in the audit log, such as `operator`.
    pub(super) via: Option<&'static str>,
    pub(super) task: Option<Task>,
}

impl Host {
    /// Runs an action as the system and answers its output.
    pub(super) async fn run_order(self: &Arc<Self>, order: Order<'_>) -> Result<Value, Failure> {
        let now = self.clock.now();
        let snapshot = self.catalog.snapshot();
        let caller = Caller::System { test_mode: order.test_mode };
        let platform = Arc::clone(&snapshot.platform);
        let mut context = CallContext::new(caller, now, new_request_id(now), platform);
        context.via.extend(order.via.map(str::to_owned));
        let asked = (order.capability, order.action);
        let (capability, action) = find(&snapshot, asked, now)?;
        if action.descriptor.access != order.access {
            return Err(Failure::new(ErrorCode::UnknownAction));
        }
        ensure_input(action, order.input)?;
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(context),
            input: order.input.to_owned(),
            dry_run: false,
            keyed: None,
            task: order.task,
            started: Instant::now(),
        };
        self.run(&run).await.outcome.map(|(result, _)| result)
    }
}
