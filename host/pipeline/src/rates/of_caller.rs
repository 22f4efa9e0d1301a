//! The rates of one caller. Its counters are found by one look-up for all that a call does with them.

use super::{Counters, Rate, RateLimitState, Rates, caller::CallerCounters};
use portolan_vocabulary::{Access, AgentCaller, Failure};
use std::{sync::Arc, time::Duration};
use tokio::sync::OwnedSemaphorePermit;

/// The rates of one caller; without counters if there are no limits.
#[derive(Debug, Clone)]
pub(crate) struct CallerRates<'a>(Option<(&'a Counters, Arc<CallerCounters>)>);

impl Rates {
    /// Returns the rates of a caller, or those of the person who makes a call on a page.
    pub(crate) fn of(&self, caller: &AgentCaller, by_person: bool) -> CallerRates<'_> {
        let counters = self.0.as_ref();
        CallerRates(counters.map(|counters| (counters, counters.of_caller(caller, by_person))))
    }

    /// Charges the time that a sandbox has computed for an agent that nobody has claimed, as work of its address.
    pub(crate) fn charge_computing(&self, agent: &AgentCaller, time: Duration) {
        let Some(counters) = self.0.as_ref().filter(|_| agent.owner_id.is_none()) else { return };
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        for counted in &counters.of_caller(agent, false).work {
            counters.charge(&counted.counter, micros);
        }
    }
}

impl CallerRates<'_> {
    /// Counts a call against the caller's limits, and returns what is left of them; `rate_limited` if one of them is
    /// used up.
    pub(crate) fn count_call(&self, access: Access) -> Result<Vec<RateLimitState>, Failure> {
        let Some((counters, of_caller)) = &self.0 else { return Ok(Vec::new()) };
        counters.ensure_run_time(of_caller)?;
        let mut rate_limits = vec![counters.take(&of_caller.calls)?];
        for counted in &of_caller.calls_at_address {
            counters.take(counted)?;
        }
        if access == Access::Write {
            rate_limits.push(counters.count(Rate::Writes, of_caller.account.clone())?);
        }
        Ok(rate_limits)
    }

    /// Waits until fewer than the maximum of the caller's calls run, and for an agent that nobody has claimed of
    /// those at its address and in its network; `rate_limited` if that takes too long. The call counts until
    /// the permits are dropped.
    pub(crate) async fn acquire_call(&self) -> Result<Vec<OwnedSemaphorePermit>, Failure> {
        let Some((_, of_caller)) = &self.0 else { return Ok(Vec::new()) };
        let mut permits = Vec::with_capacity(of_caller.running.len());
        for running in &of_caller.running {
            permits.push(running.acquire().await?);
        }
        Ok(permits)
    }

    /// Returns `rate_limited` if the run time of one of the caller's accounts is used up.
    pub(crate) fn ensure_run_time(&self) -> Result<(), Failure> {
        let Some((counters, of_caller)) = &self.0 else { return Ok(()) };
        counters.ensure_run_time(of_caller)
    }

    /// Charges the time that a call has run to the caller.
    pub(crate) fn charge_run_time(&self, time: Duration) {
        let Some((counters, of_caller)) = &self.0 else { return };
        let milliseconds = u64::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
        for counted in &of_caller.run_time {
            counters.charge(&counted.counter, milliseconds);
        }
    }
}
