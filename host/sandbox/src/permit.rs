//! Permits: how many calls this host and each capability run at once.

use crate::{engine::Sandbox, error::SandboxError, prepare::Prepared};
use tokio::sync::SemaphorePermit;

/// The permit of one call: one of its capability's and one of the host's.
#[derive(Debug)]
pub struct CallPermit<'a> {
    _capability: SemaphorePermit<'a>,
    _host: SemaphorePermit<'a>,
}

impl Sandbox {
    /// Waits for a permit to run a call of this component; `Busy` after `call_queue_time_ms`.
    ///
    /// The capability's permit is acquired first, so that a call that waits for a busy capability does not
    /// hold one of the host's permits. A nested call runs under the permit of the outermost call, so a call
    /// that holds a permit never waits for another.
    pub async fn permit<'a>(
        &'a self,
        component: &'a Prepared,
    ) -> Result<CallPermit<'a>, SandboxError> {
        if let Some(permit) = self.free_permit(component) {
            return Ok(permit);
        }
        let permit = async {
            let capability = component.calls.acquire().await.ok()?;
            let host = self.calls.acquire().await.ok()?;
            Some(CallPermit { _capability: capability, _host: host })
        };
        let permit = tokio::time::timeout(self.options.limits.call_queue_time(), permit).await;
        permit.ok().flatten().ok_or(SandboxError::Busy)
    }

    /// Returns a permit if one is free, as it mostly is: without a timer. It overtakes no call, because none is free
    /// while calls wait.
    fn free_permit<'a>(&'a self, component: &'a Prepared) -> Option<CallPermit<'a>> {
        let capability = component.calls.try_acquire().ok()?;
        let host = self.calls.try_acquire().ok()?;
        Some(CallPermit { _capability: capability, _host: host })
    }
}
