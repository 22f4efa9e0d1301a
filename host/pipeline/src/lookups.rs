//! Asks what components want to know of the public, and tells them by actions of their own.
//!
//! A question is a timer of the host's own, so that it is asked after its call has committed, outside
//! of every transaction, and again after a crash; it is removed in the transaction of what the
//! component makes of the answer.

use crate::{host::Host, system::Order};
use portolan_outgoing::lookups::LookupRequest;
use portolan_store::{Attachments, DueWork, MAX_ATTEMPTS, Unit};
use portolan_vocabulary::{Access, ErrorCode, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Questions that are asked at once on this node.
pub(super) const AT_ONCE: usize = 8;
/// How often a question is asked before what may pass is its answer.
const ASKED: u32 = 3;

/// A question on its way, as it is kept.
#[derive(Serialize, Deserialize)]
struct Asked {
    lookup_id: String,
    question: LookupRequest,
    /// As the component gave it.
    about: Value,
}

impl Host {
    /// Asks a question of a component's, and runs its action with the answer.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
    ) -> Result<(), Failure> {
        let Asked { lookup_id, question, about } = serde_json::from_str(&work.input)
            .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        let input = match self.lookups.answer(&question).await {
            Ok(found) => json!({ "lookup_id": lookup_id, "about": about, "found": found }),
            Err(error) if error.is_retryable() && work.attempts + 1 < ASKED => {
                return Err(
                    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
                );
            }
            Err(error) => {
                json!({ "lookup_id": lookup_id, "about": about, "error": error.to_string() })
            }
        };
        let order = Order {
            capability,
            action: &work.action,
            access: Access::Internal,
            input: &input.to_string(),
            test_mode: work.test_mode,
            via: None,
            task: Some(work.task.clone()),
        };
        match self.run_order(order).await {
            Err(failure) if work.attempts + 1 < MAX_ATTEMPTS => Err(failure),
            Err(failure) => {
                let (action, code) = (&*work.action, &*failure.error_code);
                tracing::error!(capability, action, code, "the answer to a question is given up");
                self.forget(work).await
            }
            Ok(_) => Ok(()),
        }
    }

    /// Removes work that nobody takes the result of.
    async fn forget(&self, work: &DueWork) -> Result<(), Failure> {
        let unit = Unit::new(self.store.clone(), self.clock.now());
        let done = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        let committed = unit.commit(done).await;
        committed.map(drop).map_err(|_| Failure::new(ErrorCode::DependencyUnavailable))
    }
}
