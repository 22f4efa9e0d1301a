//! Tells the nodes of a database that the standing of agents or people has changed: a claim, a revocation, a
//! suspension. So no node answers for long from what it remembers.

use crate::{
    commit::{Announcement, InboxSignal},
    connection::Backend,
    store::Store,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// What stands for every agent's standing among the agents of an announcement. No agent has this id.
const STANDINGS: &str = ":standings";

/// The announcements of changed standings.
#[derive(Debug)]
pub struct StandingSignals(Receiver<InboxSignal>);

impl StandingSignals {
    /// Waits until standings may have changed. Returns false when the store is closed.
    pub async fn changed(&mut self) -> bool {
        loop {
            match self.0.recv().await {
                Ok(InboxSignal::Agents(agents)) => {
                    if agents.iter().any(|agent| agent == STANDINGS) {
                        return true;
                    }
                }
                // Announcements may have been missed.
                Ok(InboxSignal::AnyAgent) | Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}

impl Store {
    /// Announces to the other nodes that standings have changed. SQLite has no other nodes.
    pub fn announce_standings(&self) {
        if let Backend::Postgres(_) = &*self.inner.backend {
            let agents = vec![STANDINGS.to_owned()];
            self.inner.signals.announce_commit(Announcement { agents, ..Announcement::default() });
        }
    }

    /// Subscribes to the announcements of changed standings.
    pub fn standing_signals(&self) -> StandingSignals {
        StandingSignals(self.inbox_signals())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::broadcast;

    #[tokio::test]
    async fn only_announcements_of_standings_and_missed_ones_are_changes() {
        let (sender, receiver) = broadcast::channel(8);
        let mut signals = StandingSignals(receiver);
        let agents = |names: &[&str]| {
            InboxSignal::Agents(names.iter().map(|name| (*name).to_owned()).collect::<Arc<[_]>>())
        };
        sender.send(agents(&["agt_1"])).unwrap();
        sender.send(agents(&["agt_1", STANDINGS])).unwrap();
        assert!(signals.changed().await);
        sender.send(InboxSignal::AnyAgent).unwrap();
        assert!(signals.changed().await);
        sender.send(agents(&["agt_2"])).unwrap();
        drop(sender);
        assert!(!signals.changed().await);
    }
}
