//! The open connections of a listener. A new one makes room for itself: at the maximum of its address, the
//! longest waiting connection of that address is closed; at the maximum of all, waiting connections of the
//! addresses that hold the most are.

mod table;

use crate::{activity::Activity, proxies::Proxies};
use portolan_vocabulary::Limits;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use rustix::process::{Resource, getrlimit};
use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use table::Table;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// The number of open files that are kept for other things than the connections of agents: the database,
/// requests to other hosts (256 to webhooks), files, and the operator's connections.
const RESERVED_FILES: u64 = 512;
/// The maximum number of connections at the operator's address, and at the operator's socket.
const OPERATOR_CONNECTIONS: usize = 64;
/// At the maximum of all connections, one part in this many is closed at once, so that not every new
/// connection has to search for one.
const CLOSED_PART: usize = 64;
/// The time without another search after one that found no waiting connection.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// The bits of an IPv6 address that its client can choose: a client usually has a whole /64.
const CLIENT_BITS: u32 = 64;

/// The reasons to refuse or close a connection: its address had its maximum, the host had its maximum, or the
/// head of the first request was late.
const ADDRESS: &str = "address";
const TOTAL: &str = "total";
const HEAD_TIME: &str = "head_time";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

/// The open connections of one listener.
#[derive(Debug)]
pub struct Connections {
    base: Instant,
    maximum: usize,
    /// The maximum of one address that is not a trusted proxy.
    address_maximum: AtomicUsize,
    proxies: Proxies,
    /// One permit for each connection that is not yet open.
    permits: Arc<Semaphore>,
    table: Mutex<Table>,
    /// The time of the next search for waiting connections of all addresses.
    next_search: Mutex<Instant>,
    opened: Counter,
    refused: Family<ReasonLabels, Counter>,
    closed: Family<ReasonLabels, Counter>,
}

/// One open connection. It leaves the table when this is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    number: u64,
    activity: Arc<Activity>,
    _permit: OwnedSemaphorePermit,
}

/// Whether there can be another connection.
#[derive(Debug, PartialEq, Eq)]
enum Capacity {
    Free,
    /// A waiting connection is being closed.
    Freed,
    Exhausted,
}

impl Connections {
    /// Returns the connections of agents: as many as the limits and the open files of this process allow.
    /// The maximum of one address does not apply to trusted proxies.
    pub fn of_agents(limits: &Limits, proxies: Proxies) -> Arc<Self> {
        let allowed = getrlimit(Resource::Nofile).current.map_or(u64::MAX, without_reserve);
        let maximum = limits.connections.min(allowed);
        if maximum < limits.connections {
            tracing::info!(
                connections = maximum,
                wanted = limits.connections,
                "the open files of this process limit the connections; raise the limit (ulimit -n, LimitNOFILE=) for more"
            );
        }
        Self::new(size(maximum), size(limits.connections_per_address), proxies)
    }

    /// Returns the connections of one of the operator's listeners.
    pub(super) fn of_operator() -> Arc<Self> {
        Self::new(OPERATOR_CONNECTIONS, OPERATOR_CONNECTIONS, Proxies::default())
    }

    fn new(maximum: usize, address_maximum: usize, proxies: Proxies) -> Arc<Self> {
        let base = Instant::now();
        Arc::new(Self {
            base,
            maximum,
            address_maximum: AtomicUsize::new(address_maximum),
            proxies,
            permits: Arc::new(Semaphore::new(maximum)),
            table: Mutex::default(),
            next_search: Mutex::new(base),
            opened: Counter::default(),
            refused: Family::default(),
            closed: Family::default(),
        })
    }

    /// Uses this maximum of one address from now on. Connections that are open stay open.
    pub fn set_address_maximum(&self, maximum: u64) {
        self.address_maximum.store(size(maximum), Ordering::Relaxed);
    }

    /// The maximum number of connections.
    pub(super) fn maximum(&self) -> usize {
        self.maximum
    }

    /// The number of open connections.
    pub(super) fn open(&self) -> usize {
        self.maximum.saturating_sub(self.permits.available_permits())
    }

    /// Admits a connection from this peer, which is `None` at a Unix socket. At a maximum, another connection
    /// is closed first. Returns `None` if none can be, because all answer requests.
    pub(super) async fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Option<OpenConnection> {
        let is_limited = peer.is_some_and(|peer| !self.proxies.contain(peer));
        let address = if is_limited { peer.map(client_address) } else { peer };
        let capacity = if is_limited { self.make_room_at(address) } else { Capacity::Free };
        if capacity == Capacity::Exhausted {
            count(&self.refused, ADDRESS, 1);
            return None;
        }
        let permits = Arc::clone(&self.permits);
        let permit = match Arc::clone(&permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_none) if capacity == Capacity::Freed || self.make_room() == Capacity::Freed => {
                permits.acquire_owned().await.ok()?
            }
            Err(_none) => {
                count(&self.refused, TOTAL, 1);
                return None;
            }
        };
        self.opened.inc();
        let activity = Activity::new(self.base);
        let number = self.table().insert(address, Arc::clone(&activity));
        let connections = Arc::clone(self);
        Some(OpenConnection { connections, address, number, activity, _permit: permit })
    }

    /// Counts a connection that is closed because the head of its first request is late.
    pub(super) fn count_late_head(&self) {
        count(&self.closed, HEAD_TIME, 1);
    }

    /// Adds the counters to a registry.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "connections_opened",
            "Connections that were opened at the address for agents",
            self.opened.clone(),
        );
        registry.register(
            "connections_refused",
            "Connections that were refused because no other waited for a request",
            self.refused.clone(),
        );
        registry.register(
            "connections_closed",
            "Connections that were closed while they waited for a request",
            self.closed.clone(),
        );
    }

    /// Closes the longest waiting connection of the address if the address has its maximum.
    fn make_room_at(&self, address: Option<IpAddr>) -> Capacity {
        let mut table = self.table();
        if table.count(address) < self.address_maximum.load(Ordering::Relaxed) {
            return Capacity::Free;
        }
        if !table.close_one_of(address) {
            return Capacity::Exhausted;
        }
        count(&self.closed, ADDRESS, 1);
        Capacity::Freed
    }

    /// Closes a part of the waiting connections, unless there were none a moment ago.
    fn make_room(&self) -> Capacity {
        let mut next_search = self.next_search.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() < *next_search {
            return Capacity::Exhausted;
        }
        match self.table().close_some((self.maximum / CLOSED_PART).max(1)) {
            0 => {
                *next_search = Instant::now() + SEARCH_INTERVAL;
                Capacity::Exhausted
            }
            closed => {
                count(&self.closed, TOTAL, closed);
                Capacity::Freed
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnection {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.table().remove(self.address, self.number);
    }
}

fn count(counts: &Family<ReasonLabels, Counter>, reason: &'static str, number: usize) {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    counts.get_or_create(&ReasonLabels { reason }).inc_by(number);
}

/// Returns how many of these open files connections of agents can have.
fn without_reserve(open_files: u64) -> u64 {
    open_files - RESERVED_FILES.min(open_files / 2)
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

/// Returns the address that stands for a client: of IPv6, the first address of its /64.
pub(super) fn client_address(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << CLIENT_BITS)).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{sleep, timeout};

    async fn admit(connections: &Arc<Connections>, address: &str) -> Option<OpenConnection> {
        connections.admit(Some(address.parse().unwrap())).await
    }

    async fn is_closed(connection: &OpenConnection) -> bool {
        timeout(Duration::ZERO, connection.activity.closing()).await.is_ok()
    }

    #[tokio::test]
    async fn at_its_maximum_an_address_loses_its_longest_waiting_connection() {
        let connections = Connections::new(10, 3, Proxies::default());
        let [first, second, third] = [(); 3].map(|()| admit(&connections, "2001:db8::1"));
        let [first, second, third] =
            [first.await.unwrap(), second.await.unwrap(), third.await.unwrap()];
        let other = admit(&connections, "2001:db8:0:1::1").await.unwrap();
        let answering = first.activity.answer();
        let new = admit(&connections, "2001:db8::2").await.unwrap();
        assert!(is_closed(&second).await);
        for open in [&first, &third, &other, &new] {
            assert!(!is_closed(open).await);
        }
        // A connection that has sent its answer waits again, for less time than the others.
        drop(answering);
        first.activity.set_sent();
        let _newer = admit(&connections, "2001:db8::3").await.unwrap();
        assert!(is_closed(&third).await);
        assert!(!is_closed(&first).await);
    }

    #[tokio::test]
    async fn no_connection_that_answers_is_closed() {
        for (maximum, address_maximum) in [(2, 9), (9, 2)] {
            let connections = Connections::new(maximum, address_maximum, Proxies::default());
            let first = admit(&connections, "192.0.2.1").await.unwrap();
            let second = admit(&connections, "::ffff:192.0.2.1").await.unwrap();
            let (answering, unsent) = (first.activity.answer(), second.activity.answer());
            drop(unsent);
            assert!(admit(&connections, "192.0.2.1").await.is_none(), "{maximum}");
            drop((first, answering));
            assert!(admit(&connections, "192.0.2.1").await.is_some(), "{maximum}");
        }
    }

    #[tokio::test]
    async fn at_the_maximum_the_address_that_holds_the_most_loses_a_connection() {
        let connections = Connections::new(4, 3, Proxies::default());
        let honest = admit(&connections, "192.0.2.1").await.unwrap();
        let mut flood = Vec::new();
        for _ in 0..3 {
            flood.push(admit(&connections, "192.0.2.2").await.unwrap());
        }
        let longest = flood.remove(0);
        let makes_room = async {
            longest.activity.closing().await;
            assert_eq!(connections.open(), 4);
            drop(longest);
        };
        let (new, ()) = tokio::join!(admit(&connections, "192.0.2.3"), makes_room);
        assert!(new.is_some());
        for open in [&honest, &flood[0], &flood[1]] {
            assert!(!is_closed(open).await);
        }
    }

    #[tokio::test]
    async fn a_connection_that_begins_to_wait_makes_room() {
        let connections = Connections::new(1, 1, Proxies::default());
        let only = admit(&connections, "192.0.2.1").await.unwrap();
        let answering = only.activity.answer();
        assert!(admit(&connections, "192.0.2.2").await.is_none());
        drop(answering);
        only.activity.set_sent();
        sleep(SEARCH_INTERVAL).await;
        let makes_room = async {
            only.activity.closing().await;
            drop(only);
        };
        let (new, ()) = tokio::join!(admit(&connections, "192.0.2.2"), makes_room);
        assert!(new.is_some());
    }

    #[tokio::test]
    async fn connections_of_trusted_proxies_have_no_maximum_of_their_own() {
        let proxies = Proxies(vec!["10.0.0.0/8".parse().unwrap()]);
        let connections = Connections::new(9, 1, proxies);
        let [first, second] = [(); 2].map(|()| admit(&connections, "10.0.0.1"));
        let [first, _second] = [first.await.unwrap(), second.await.unwrap()];
        assert!(!is_closed(&first).await);
    }

    #[test]
    fn files_are_kept_for_other_things() {
        for (open_files, connections) in [(256, 128), (1_024, 512), (1_048_576, 1_048_064)] {
            assert_eq!(without_reserve(open_files), connections);
        }
    }
}
