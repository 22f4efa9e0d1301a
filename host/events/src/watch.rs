//! Watchers of inboxes: they are told of new events, and take nothing from the readers.

use crate::{envelope::envelope, events::Events};
use portolan_store::{DbError, StateError};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::watch;

/// The maximum number of events that are shown at once.
const SHOWN: usize = 50;

/// A watcher of an agent's inbox, until it is dropped.
#[derive(Debug)]
pub struct InboxWatcher {
    // `changes` is dropped first, because the registration counts what is left.
    changes: watch::Receiver<()>,
    registration: Registration,
    /// Whether there was a signal since the inbox was last read.
    is_signalled: bool,
    /// The newest sequence that the watcher was told of.
    newest: u64,
}

impl InboxWatcher {
    /// Waits until there is an event that the watcher was not told of, or the database cannot be read. A dropped
    /// wait loses no event.
    pub async fn changed(&mut self) {
        loop {
            if !self.is_signalled {
                // This fails only without the sender, which the service has as long as this watcher is there.
                let _signal = self.changes.changed().await;
                self.is_signalled = true;
            }
            let Registration { events, agent_id } = &self.registration;
            let newest = events.newest(agent_id).await;
            self.is_signalled = false;
            // After a lost connection to the database, every inbox is signalled.
            match newest {
                Ok(newest) if newest <= self.newest => {}
                Ok(newest) => {
                    self.newest = newest;
                    return;
                }
                Err(_unread) => return,
            }
        }
    }
}

/// The right of a watcher to a signal, which ends with the last watcher.
#[derive(Debug)]
struct Registration {
    events: Arc<Events>,
    agent_id: Arc<str>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.events.watched.remove_unused(&self.agent_id);
    }
}

impl Events {
    /// Watches an agent's inbox for events after those that it has now.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn watch(self: &Arc<Self>, agent_id: &Arc<str>) -> Result<InboxWatcher, DbError> {
        let mut watcher = InboxWatcher {
            changes: self.watched.subscribe(agent_id),
            registration: Registration { events: Arc::clone(self), agent_id: Arc::clone(agent_id) },
            is_signalled: false,
            newest: 0,
        };
        watcher.newest = self.newest(agent_id).await?;
        Ok(watcher)
    }

    /// Returns the first events of an inbox that are not acknowledged, and whether there are more. They stay
    /// visible for readers.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn unacknowledged(
        &self,
        agent_id: &str,
        test_mode: bool,
    ) -> Result<(Vec<Map<String, Value>>, bool), StateError> {
        self.current_head(agent_id).await?;
        let mut entries = self.store.unacknowledged(agent_id, 0, &[], SHOWN + 1).await?;
        let has_more = entries.len() > SHOWN;
        entries.truncate(SHOWN);
        let event = |entry| envelope(entry, &self.source, agent_id, test_mode);
        Ok((entries.iter().map(event).collect(), has_more))
    }

    /// Returns the sequence of the newest event of an inbox, or 0 for an empty inbox.
    async fn newest(&self, agent_id: &str) -> Result<u64, DbError> {
        Ok(self.current_head(agent_id).await?.map_or(0, |head| head.last))
    }
}
