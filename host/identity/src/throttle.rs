//! The throttle of wrong client secrets: for each client at each address, so that a client that knows its
//! secret is never locked out by somebody elsewhere. All operators are one client.

use crate::failed_attempts::network;
use moka::sync::Cache;
use portolan_vocabulary::Timestamp;
use std::{net::IpAddr, time::Duration};

/// The number of wrong secrets before the next attempt has to wait.
const FREE_ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The time after the last wrong secret after which the count begins again.
const MEMORY: Duration = Duration::from_secs(3600);
/// The maximum number of clients at addresses that are remembered. More evict others.
const CAPACITY: u64 = 50_000;

#[derive(Debug, Clone, Copy)]
struct Wrong {
    count: u32,
    last: Timestamp,
}

impl Wrong {
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE_ATTEMPTS) {
            None => Duration::ZERO,
            Some(doublings) => {
                FIRST_WAIT.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_WAIT)
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Throttle(Cache<String, Wrong>);

impl Throttle {
    pub(crate) fn new() -> Self {
        Self(Cache::new(CAPACITY))
    }

    /// Returns how long the client has to wait before its next attempt from this address; `None` if it need
    /// not wait.
    pub(crate) fn wait(
        &self,
        client_id: &str,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Option<Duration> {
        let wrong = self.0.get(&key(client_id, address))?;
        let left = wrong.last.plus(wrong.wait()).as_millis().checked_sub(now.as_millis())?;
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// Counts a wrong secret.
    pub(crate) fn count(&self, client_id: &str, address: Option<IpAddr>, now: Timestamp) {
        self.0.entry(key(client_id, address)).and_upsert_with(|known| {
            let known = known.map(moka::Entry::into_value);
            let known = known.filter(|wrong| wrong.last.plus(MEMORY) > now);
            Wrong { count: known.map_or(0, |wrong| wrong.count).saturating_add(1), last: now }
        });
    }

    /// Forgets the wrong secrets of a client that has sent the right one.
    pub(crate) fn forget(&self, client_id: &str, address: Option<IpAddr>) {
        self.0.invalidate(&key(client_id, address));
    }
}

fn key(client_id: &str, address: Option<IpAddr>) -> String {
    format!("{client_id} {}", address.map(network).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_for_a_client_at_an_address_and_for_no_other() {
        let (throttle, at) = (Throttle::new(), Timestamp::from_millis);
        let (one, other) = (Some(IpAddr::from([192, 0, 2, 1])), Some(IpAddr::from([192, 0, 2, 2])));
        for _ in 0..4 {
            throttle.count("cli", one, at(0));
        }
        assert_eq!(throttle.wait("cli", one, at(0)), None);
        throttle.count("cli", one, at(0));
        assert_eq!(throttle.wait("cli", one, at(0)), Some(Duration::from_secs(1)));
        assert_eq!(throttle.wait("cli", one, at(1_000)), None);
        throttle.count("cli", one, at(1_000));
        assert_eq!(throttle.wait("cli", one, at(1_000)), Some(Duration::from_secs(2)));
        assert_eq!(throttle.wait("cli", other, at(1_000)), None);
        assert_eq!(throttle.wait("another", one, at(1_000)), None);
        for _ in 0..40 {
            throttle.count("cli", one, at(1_000));
        }
        assert_eq!(throttle.wait("cli", one, at(1_000)), Some(LONGEST_WAIT));
        throttle.count("cli", one, at(3_601_000));
        assert_eq!(throttle.wait("cli", one, at(3_601_000)), None);
        throttle.forget("cli", one);
        assert_eq!(throttle.wait("cli", one, at(1_000)), None);
    }
}
