//! How many calls of one caller run at once: of all agents of a person, or of an agent that nobody has claimed.

use moka::sync::Cache;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, Limits, MINUTE};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The calls that run now, by caller.
#[derive(Debug)]
pub(super) struct Concurrency {
    limit: u64,
    /// How long a call waits for the end of another.
    wait: Duration,
    callers: Cache<Arc<str>, Arc<Semaphore>>,
}

impl Concurrency {
    pub(super) fn new(limits: &Limits, max_callers: u64) -> Self {
        let callers = Cache::builder().max_capacity(max_callers).time_to_idle(MINUTE).build();
        let wait = Duration::from_millis(limits.call_queue_time_ms);
        Self { limit: limits.concurrent_calls_per_caller, wait, callers }
    }

    /// Waits until fewer than the maximum of the caller's calls run. The call counts until the permit is
    /// dropped. `rate_limited` after `call_queue_time_ms`.
    pub(super) async fn acquire(
        &self,
        caller: &AgentCaller,
    ) -> Result<OwnedSemaphorePermit, Failure> {
        let account = caller.owner_id.as_ref().unwrap_or(&caller.agent_id);
        let calls = || Arc::new(Semaphore::new((self.limit as usize).min(Semaphore::MAX_PERMITS)));
        let calls = self.callers.get_with_by_ref(account, calls);
        let permit = timeout(self.wait, calls.acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            let message = "Too many of your calls are running. Wait for their answers.";
            let name = "concurrent_calls_per_caller";
            let conflict =
                json!({ "kind": "limit", "name": name, "of": "caller", "limit": self.limit });
            Failure::new(ErrorCode::RateLimited).message(message).conflict(conflict).after_s(1)
        })
    }
}
