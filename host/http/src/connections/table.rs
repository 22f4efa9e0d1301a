//! The open connections by address, and which of them are closed for others.

use crate::activity::Activity;
use std::{cmp::Reverse, collections::HashMap, net::IpAddr, sync::Arc};

/// An address; `None` at a Unix socket.
type Address = Option<IpAddr>;

/// The open connections without those that are being closed for others.
#[derive(Debug, Default)]
pub(super) struct Table {
    last_number: u64,
    open: HashMap<Address, HashMap<u64, Arc<Activity>>>,
}

impl Table {
    /// Adds a connection and returns its number.
    pub(super) fn insert(&mut self, address: Address, activity: Arc<Activity>) -> u64 {
        self.last_number += 1;
        self.open.entry(address).or_default().insert(self.last_number, activity);
        self.last_number
    }

    pub(super) fn remove(&mut self, address: Address, number: u64) {
        if let Some(open) = self.open.get_mut(&address) {
            open.remove(&number);
            if open.is_empty() {
                self.open.remove(&address);
            }
        }
    }

    /// Returns the number of connections of an address.
    pub(super) fn count(&self, address: Address) -> usize {
        self.open.get(&address).map_or(0, HashMap::len)
    }

    /// Closes the longest waiting connection of an address. Returns whether one waits.
    pub(super) fn close_one_of(&mut self, address: Address) -> bool {
        let mut waiting = self.open.get(&address).map(waiting).unwrap_or_default();
        waiting.sort_unstable();
        waiting.into_iter().any(|(since, number)| self.close(address, number, since))
    }

    /// Closes this many waiting connections, or all that wait if they are fewer: first those of the addresses
    /// that hold the most, then the longest waiting ones. Returns how many were closed.
    pub(super) fn close_some(&mut self, number: usize) -> usize {
        let mut candidates = Vec::new();
        for (address, open) in &self.open {
            let mut waiting = waiting(open);
            waiting.sort_unstable_by_key(|(since, _)| Reverse(*since));
            let answering = open.len() - waiting.len();
            for (newer, (since, number)) in waiting.into_iter().enumerate() {
                // How many its address keeps if this one is closed, and those that have waited longer.
                candidates.push((Reverse(answering + newer), since, *address, number));
            }
        }
        candidates.sort_unstable();
        let closed = candidates
            .into_iter()
            .filter(|(_, since, address, number)| self.close(*address, *number, *since));
        closed.take(number).count()
    }

    /// Closes a connection if it still waits. Returns whether it does.
    fn close(&mut self, address: Address, number: u64, since: u64) -> bool {
        let open = self.open.get(&address).and_then(|open| open.get(&number));
        let closes = open.is_some_and(|activity| activity.close_if_waiting_since(since));
        if closes {
            self.remove(address, number);
        }
        closes
    }
}

/// Returns since when connections have waited for a request, and their numbers.
fn waiting(open: &HashMap<u64, Arc<Activity>>) -> Vec<(u64, u64)> {
    let waiting =
        |(number, activity): (&u64, &Arc<Activity>)| Some((activity.waiting_since()?, *number));
    open.iter().filter_map(waiting).collect()
}
