//! Look-ups for components. A component's own internal action gets the result.
//!
//! A look-up is a timer of the host. So it is made after the call that requested it has committed, outside
//! of any transaction, and again after a crash; it is removed in the commit of the action that gets the
//! result.

use crate::{host::Host, system::SystemCall};
use portolan_outgoing::lookups::LookupRequest;
use portolan_store::{DueWork, MAX_ATTEMPTS};
use portolan_telemetry::{SpanKind, TraceContext};
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of attempts after which the action gets a retryable error as the result.
const MAX_LOOKUPS: u32 = 3;

/// The stored form of a look-up.
#[derive(Serialize, Deserialize)]
struct StoredLookup {
    lookup_id: String,
    question: LookupRequest,
    /// The component's own data, which the action gets back.
    about: Value,
}

impl Host {
    /// Makes a look-up, and runs the component's action with the result. The result is dropped if the action
    /// has failed in every attempt.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
        trace: Option<TraceContext>,
    ) -> Result<(), Failure> {
        let StoredLookup { lookup_id, question: request, about } =
            serde_json::from_str(&work.input)
                .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        // The trace begins with the timer, so that the page does not learn the id of the caller's.
        let mut span = self.telemetry.span(trace, SpanKind::Client, "look up");
        let traceparent = span.context_or(trace).map(|context| context.to_string());
        let looked_up = self.lookups.look_up(&request, traceparent).await;
        if looked_up.is_err() {
            span.fail("lookup_failed");
        }
        drop(span);
        let input = match looked_up {
            Ok(found) => json!({ "lookup_id": lookup_id, "about": about, "found": found }),
            Err(error) if error.is_retryable() && work.attempts + 1 < MAX_LOOKUPS => {
                return Err(
                    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
                );
            }
            Err(error) => {
                json!({ "lookup_id": lookup_id, "about": about, "error": error.to_string() })
            }
        };
        let call = SystemCall {
            capability,
            action: &work.action,
            access: Access::Internal,
            input: &input.to_string(),
            caller: Caller::System { test_mode: work.test_mode },
            via: None,
            task: Some(work.task.clone()),
            trace,
        };
        match self.run_system_call(call).await {
            Err(failure) if work.attempts + 1 < MAX_ATTEMPTS => Err(failure),
            Err(failure) => {
                let (action, code) = (&*work.action, &*failure.error_code);
                tracing::error!(
                    capability,
                    action,
                    code,
                    "the result of a look-up is dropped, because its action fails"
                );
                self.remove(work).await
            }
            Ok(_) => Ok(()),
        }
    }
}
