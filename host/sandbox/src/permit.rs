//! The right to run: how many calls this host and each capability run at once.

use crate::{
    engine::{Prepared, Sandbox},
    error::SandboxError,
};
use tokio::sync::SemaphorePermit;

/// The permit of one call: one of its capability's and one of the host's.
#[derive(Debug)]
pub struct CallPermit<'a> {
    _capability: SemaphorePermit<'a>,
    _host: SemaphorePermit<'a>,
}

impl Sandbox {
    /// Waits for a permit to run a call of this component, at most `call_queue_time_ms`.
    ///
    /// The capability's permit comes first, so that a call that waits for a busy capability keeps
    /// none of the host's permits from others. A nested call needs no permit of its own: a call that
    /// holds one never waits for another.
    pub async fn permit<'a>(
        &'a self,
        component: &'a Prepared,
    ) -> Result<CallPermit<'a>, SandboxError> {
        let permit = async {
            let capability = component.calls.acquire().await.ok()?;
            let host = self.calls.acquire().await.ok()?;
            Some(CallPermit { _capability: capability, _host: host })
        };
        let permit = tokio::time::timeout(self.options.limits.call_queue_time(), permit).await;
        permit.ok().flatten().ok_or(SandboxError::Busy)
    }
}
