//! Rate limits: calls of a caller, registrations and text messages of an address. Each node counts by
//! itself.
//!
//! A limit is a bucket that refills evenly (the generic cell rate algorithm), so a burst may be as large as
//! the limit.

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    middleware::StateInformationMiddleware,
    state::{InMemoryState, NotKeyed},
};
use moka::sync::Cache;
use portolan_vocabulary::{Access, AgentCaller, ErrorCode, Failure, Limits};
use serde_json::json;
use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

const MINUTE_S: u32 = 60;
const HOUR_S: u32 = 3600;
/// The maximum number of callers in the cache of a limit. More callers evict others.
const MAX_CALLERS: u64 = 50_000;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// The state of a caller's limit (draft-ietf-httpapi-ratelimit-headers).
#[derive(Debug, Clone, Copy)]
pub struct RateLimitState {
    pub policy: &'static str,
    pub limit: u32,
    pub window_s: u32,
    pub remaining: u32,
    /// The seconds until the whole limit is available again.
    pub reset_s: u32,
}

/// One limit, counted for each caller.
#[derive(Debug)]
struct Meter {
    policy: &'static str,
    /// The name in the table of limits.
    name: &'static str,
    limit: NonZeroU32,
    window_s: u32,
    callers: Cache<String, Arc<Limiter>>,
}

impl Meter {
    fn new(policy: &'static str, name: &'static str, limit: u64, window_s: u32) -> Self {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let window = Duration::from_secs(u64::from(window_s));
        Self {
            policy,
            name,
            limit: NonZeroU32::new(limit).unwrap_or(NonZeroU32::MIN),
            window_s,
            // After a window without calls the whole limit is available again, as for a new caller.
            callers: Cache::builder().max_capacity(MAX_CALLERS).time_to_idle(window).build(),
        }
    }

    fn count(&self, caller: &str) -> Result<RateLimitState, Failure> {
        let interval = Duration::from_secs(u64::from(self.window_s)) / self.limit.get();
        let limiter = self.callers.get_with_by_ref(caller, || {
            // `with_period` returns `None` only for a period of 0.
            let quota = Quota::with_period(interval).unwrap_or(Quota::per_second(self.limit));
            let limiter = RateLimiter::direct(quota.allow_burst(self.limit));
            Arc::new(limiter.with_middleware())
        });
        match limiter.check() {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let used = self.limit.get().saturating_sub(remaining);
                let reset_s = (interval * used).as_secs_f64().ceil() as u32;
                let (policy, limit, window_s) = (self.policy, self.limit.get(), self.window_s);
                Ok(RateLimitState { policy, limit, window_s, remaining, reset_s })
            }
            Err(not_until) => {
                let wait = not_until.wait_time_from(DefaultClock::default().now());
                let seconds = wait.as_secs_f64().ceil().max(1.0) as u32;
                Err(Failure::new(ErrorCode::RateLimited).after_s(seconds).conflict(json!({
                    "kind": "limit",
                    "name": self.name,
                    "limit": self.limit,
                    "remaining": 0,
                    "window_s": self.window_s,
                    "retry_after_s": seconds,
                })))
            }
        }
    }
}

/// The meter of every limit.
#[derive(Debug)]
struct Meters {
    anonymous: Meter,
    claimed: Meter,
    writes: Meter,
    registrations: Meter,
    messages: Meter,
}

/// The rate limits; `None` if they are off.
#[derive(Debug)]
pub struct Rates(Option<Meters>);

impl Rates {
    pub fn new(limits: &Limits) -> Self {
        let anonymous = limits.anonymous_calls_per_minute;
        let claimed = limits.claimed_calls_per_minute;
        let writes = limits.writes_per_minute;
        let registrations = limits.registrations_per_hour;
        Self(Some(Meters {
            anonymous: Meter::new("default", "anonymous_calls_per_minute", anonymous, MINUTE_S),
            claimed: Meter::new("default", "claimed_calls_per_minute", claimed, MINUTE_S),
            writes: Meter::new("writes", "writes_per_minute", writes, MINUTE_S),
            registrations: Meter::new(
                "registrations",
                "registrations_per_hour",
                registrations,
                HOUR_S,
            ),
            messages: Meter::new("messages", "messages_per_hour", limits.messages_per_hour, HOUR_S),
        }))
    }

    /// Returns rates without limits, for tests and benchmarks.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Counts a call against the caller's limits and returns what is left of them; `rate_limited` if one of
    /// them is used up.
    pub fn count_call(
        &self,
        caller: &AgentCaller,
        access: Access,
    ) -> Result<Vec<RateLimitState>, Failure> {
        let Some(meters) = &self.0 else { return Ok(Vec::new()) };
        let calls = if caller.owner_id.is_some() { &meters.claimed } else { &meters.anonymous };
        let mut rate_limits = vec![calls.count(&caller.agent_id)?];
        if access == Access::Write {
            rate_limits.push(meters.writes.count(&caller.agent_id)?);
        }
        Ok(rate_limits)
    }

    /// Counts a registration from an address.
    pub fn count_registration(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(|meters| &meters.registrations, address)
    }

    /// Counts a view of a page that makes a call, against the limit of anonymous agents for this address.
    pub fn count_page_view(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(|meters| &meters.anonymous, address)
    }

    /// Counts a text message for a caller at an address.
    pub(super) fn count_message(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(|meters| &meters.messages, address)
    }

    fn count_by_address(
        &self,
        meter: impl FnOnce(&Meters) -> &Meter,
        address: Option<IpAddr>,
    ) -> Result<(), Failure> {
        match (&self.0, address) {
            (Some(meters), Some(address)) => {
                meter(meters).count(&network(address)).map(|_spent| ())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the network that counts as one address: a client usually has a whole /64 of IPv6 addresses.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_and_counted_for_each_caller() {
        let meter = Meter::new("default", "calls", 3, 3600);
        let remaining: Vec<_> = (0..3).map(|_| meter.count("one").unwrap().remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let refused = meter.count("one").unwrap_err();
        assert_eq!(refused.error_code, "rate_limited");
        let wait = refused.next.unwrap()["after_s"].as_u64().unwrap();
        assert!((1..=1200).contains(&wait), "{wait}");
        assert_eq!(meter.count("other").unwrap().reset_s, 1200);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2::3"), network("2001:db8:1:2:ffff::"));
        assert_ne!(network("2001:db8:1:2::3"), network("2001:db8:1:3::3"));
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
