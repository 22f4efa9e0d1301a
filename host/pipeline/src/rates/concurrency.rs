//! How many calls of one account run at once.

use super::{account::Account, table::CALLER_LIFE};
use ahash::RandomState;
use moka::sync::Cache;
use portolan_vocabulary::{ErrorCode, Failure, Limits, MINUTE};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The calls that run now, by account.
#[derive(Debug)]
pub(super) struct Concurrency {
    limit: u64,
    /// How long a call waits for the end of another.
    wait: Duration,
    accounts: Cache<Account, Arc<Semaphore>, RandomState>,
}

/// The calls of an account that run now.
#[derive(Debug)]
pub(super) struct Running {
    kind: &'static str,
    limit: u64,
    /// How long a call waits for the end of another.
    wait: Duration,
    calls: Arc<Semaphore>,
}

impl Concurrency {
    pub(super) fn new(limits: &Limits, max_accounts: u64) -> Self {
        let wait = Duration::from_millis(limits.call_queue_time_ms);
        // A caller keeps what `running` returns for a minute, and a call that runs now has begun no longer ago.
        let running = MINUTE + 2 * wait + Duration::from_millis(limits.call_wall_time_ms);
        let idle = CALLER_LIFE + running;
        let accounts = Cache::builder()
            .max_capacity(max_accounts)
            .time_to_idle(idle)
            .build_with_hasher(RandomState::new());
        Self { limit: limits.concurrent_calls_per_caller, wait, accounts }
    }

    /// Returns the calls of an account, of which `factor` times the limit of a caller may run at once.
    pub(super) fn running(&self, account: Account, factor: u64) -> Running {
        let (kind, limit) = (account.kind(), self.limit.saturating_mul(factor.max(1)));
        let permits = usize::try_from(limit).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let calls = self.accounts.get_with(account, || Arc::new(Semaphore::new(permits)));
        Running { kind, limit, wait: self.wait, calls }
    }
}

impl Running {
    /// Waits until fewer calls of the account run than may. The call counts until the permit is dropped.
    /// `rate_limited` after `call_queue_time_ms`.
    pub(super) async fn acquire(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let Self { kind, limit, wait, calls } = self;
        if let Ok(permit) = Arc::clone(calls).try_acquire_owned() {
            return Ok(permit);
        }
        let permit = timeout(*wait, Arc::clone(calls).acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            let message = "Too many calls are running. Wait for their answers.";
            let name = "concurrent_calls_per_caller";
            let conflict = json!({ "kind": "limit", "name": name, "of": kind, "limit": limit });
            Failure::new(ErrorCode::RateLimited).message(message).conflict(conflict).after_s(1)
        })
    }
}
