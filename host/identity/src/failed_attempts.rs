//! Failed authentications on their way to the audit log.
//!
//! The first failure of its kind, from one address or of one client or agent, is written at once. Those of the
//! minute after it become one row with their number, so that a flood does not fill the database.

use crate::auth_action::AuthAction;
use portolan_store::AuditRecord;
use portolan_vocabulary::Timestamp;
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// The time in which failures of one kind become one row.
const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of sources that are told apart at once. Further ones become one row.
const MAX_SOURCES: usize = 256;

/// A failed authentication.
#[derive(Debug, Clone)]
pub(crate) struct FailedAttempt {
    pub action: AuthAction,
    pub outcome: &'static str,
    pub client_id: Option<String>,
    pub agent_id: Option<String>,
    pub owner_id: Option<String>,
    pub address: Option<IpAddr>,
}

impl FailedAttempt {
    pub(crate) fn of(action: AuthAction, outcome: &'static str) -> Self {
        let (client_id, agent_id, owner_id, address) = (None, None, None, None);
        Self { action, outcome, client_id, agent_id, owner_id, address }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    action: AuthAction,
    outcome: &'static str,
    /// The network, or the client or agent if there is no address; `None` for all beyond `MAX_SOURCES`.
    source: Option<String>,
}

#[derive(Debug)]
struct Group {
    row: AuditRecord,
    since: Timestamp,
    /// Whether the first failure still has to be written.
    is_new: bool,
    /// The number of failures after the first one.
    further: u64,
}

#[derive(Debug, Default)]
pub(crate) struct FailedAttempts {
    groups: Mutex<HashMap<Kind, Group>>,
    /// Notified when there is a failure to write at once.
    pub(crate) first: Notify,
}

impl FailedAttempts {
    pub(crate) fn add(&self, attempt: FailedAttempt, now: Timestamp) {
        let network = attempt.address.map(network);
        let source = network.clone().or_else(|| attempt.client_id.clone());
        let source = source.or_else(|| attempt.agent_id.clone());
        let FailedAttempt { action, outcome, client_id, agent_id, owner_id, .. } = attempt;
        let mut kind = Kind { action, outcome, source };
        let mut groups = self.groups();
        let is_beyond = groups.len() >= MAX_SOURCES && !groups.contains_key(&kind);
        if is_beyond {
            kind.source = None;
        }
        if let Some(group) = groups.get_mut(&kind) {
            group.further += 1;
            group.row.at = now;
            // The row of several attempts has only their common values.
            for (known, other) in [
                (&mut group.row.client_id, client_id),
                (&mut group.row.agent_id, agent_id),
                (&mut group.row.owner_id, owner_id),
            ] {
                if *known != other && !group.is_new {
                    *known = None;
                }
            }
            return;
        }
        let row = AuditRecord {
            client_id,
            agent_id,
            owner_id,
            address: network.filter(|_| !is_beyond),
            ..AuditRecord::of_host(action.name(), outcome, now)
        };
        groups.insert(kind, Group { row, since: now, is_new: true, further: 0 });
        drop(groups);
        self.first.notify_one();
    }

    /// Takes the rows that are to be written now; all of them if this is the end.
    pub(crate) fn take(&self, now: Timestamp, is_end: bool) -> Vec<AuditRecord> {
        let mut rows = Vec::new();
        self.groups().retain(|_, group| {
            if std::mem::take(&mut group.is_new) {
                let count = 1;
                rows.push(AuditRecord { count, ..group.row.clone() });
            }
            let is_over = is_end || group.since.plus(WINDOW) <= now;
            if is_over && group.further > 0 {
                let row = AuditRecord::of_host(&group.row.action, &group.row.outcome, now);
                let request_id = row.request_id;
                let count = group.further;
                rows.push(AuditRecord { request_id, count, ..group.row.clone() });
            }
            !is_over
        });
        rows
    }

    /// Returns when the next rows are to be written; `None` if there is nothing to write.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.groups().values().map(|group| group.since.plus(WINDOW)).min()
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<Kind, Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the network of a source: the address, or of an IPv6 address the 64 bits that one site has.
pub(crate) fn network(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(address: [u8; 4], client_id: &str) -> FailedAttempt {
        FailedAttempt {
            client_id: Some(client_id.to_owned()),
            address: Some(IpAddr::from(address)),
            ..FailedAttempt::of(AuthAction::ClientRefused, "invalid_client")
        }
    }

    #[test]
    fn a_flood_from_one_address_becomes_two_rows_a_minute() {
        let (attempts, at) = (FailedAttempts::default(), Timestamp::from_millis);
        attempts.add(attempt([192, 0, 2, 1], "one"), at(0));
        let first = attempts.take(at(0), false);
        assert_eq!((first.len(), first[0].count), (1, 1));
        assert_eq!(first[0].client_id.as_deref(), Some("one"));
        for number in 0..9_999 {
            attempts.add(attempt([192, 0, 2, 1], &format!("client {number}")), at(number));
        }
        assert_eq!(attempts.take(at(59_999), false).len(), 0);
        let rest = attempts.take(at(60_000), false);
        assert_eq!((rest.len(), rest[0].count), (1, 9_999));
        assert_eq!((&rest[0].client_id, rest[0].address.as_deref()), (&None, Some("192.0.2.1")));
        assert_eq!(attempts.next(), None);
    }

    #[test]
    fn a_flood_from_many_addresses_becomes_a_bounded_number_of_rows() {
        let (attempts, at) = (FailedAttempts::default(), Timestamp::from_millis(1));
        for number in 0..10_000_u16 {
            let [high, low] = number.to_be_bytes();
            attempts.add(attempt([10, 0, high, low], "client"), at);
        }
        let rows = attempts.take(at, true);
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 10_000);
        assert_eq!(rows.len(), MAX_SOURCES + 2);
        let others: Vec<_> = rows.iter().filter(|row| row.address.is_none()).collect();
        assert_eq!(others.iter().map(|row| row.count).sum::<u64>(), 10_000 - MAX_SOURCES as u64);
    }

    #[test]
    fn addresses_of_one_site_are_one_source() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
        assert_eq!(of("198.51.100.7"), "198.51.100.7");
    }
}
