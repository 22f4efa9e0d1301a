//! The reading of inboxes: pages, long polls, acknowledgement and replay.
//!
//! An event that is not acknowledged is delivered again. A reader with a cursor tracks its own position: it
//! gets every event after the cursor at once. For other readers, a delivered event is invisible for the
//! visibility timeout, and so are later events on the same subject, so that each subject keeps its order.

use crate::{
    envelope::envelope,
    events::Events,
    waiting::{Waiter, Wake},
};
use portolan_store::{
    Attachments, DbError, InboxEntry, InboxHead, OutboxCommand, StateError, Unit,
};
use portolan_vocabulary::Timestamp;
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// The number of invisible events of an inbox at which a reader gets no more than the events after
/// its cursor.
const MAX_UNACKNOWLEDGED: usize = 1_000;
/// The maximum number of entries of one read.
const MAX_CHUNK_ENTRIES: usize = 200;
/// The number of bytes of event data at which a page ends early.
const MAX_PAGE_BYTES: usize = 512 << 10;
/// The minimum time between two updates of an agent's stored time of last poll.
const POLL_UPDATE_INTERVAL_MS: u64 = 24 * 3600 * 1000;
/// The maximum number of events of one replay.
const MAX_REPLAYED: usize = 10_000;

/// The request of a reader.
#[derive(Debug)]
pub struct Poll {
    pub agent_id: Arc<str>,
    pub test_mode: bool,
    /// The sequence up to which the reader has read.
    pub cursor: Option<u64>,
    /// The event types to read. An empty list means all.
    pub types: Vec<String>,
    pub limit: usize,
}

/// A page of an inbox, as a reader gets it.
#[derive(Debug)]
pub struct InboxPage {
    /// The events in the order of their sequence.
    pub events: Vec<Map<String, Value>>,
    /// The sequence up to which the reader has read after this page.
    pub cursor: u64,
    pub has_more: bool,
    /// Whether another reader of the same agent has registered.
    pub superseded: bool,
    /// The time at which the next invisible event becomes visible again, if there is one.
    visible_at: Option<Timestamp>,
}

impl Events {
    /// Registers a reader of an agent's inbox. An earlier reader of the same inbox is superseded.
    pub fn register_reader(&self, agent_id: &Arc<str>) -> Waiter {
        self.waiting.register(agent_id)
    }

    /// Returns a page as soon as it has an event, or when the wait is over, the reader is
    /// superseded or the host stops.
    pub async fn poll(
        &self,
        waiter: &Waiter,
        poll: &Poll,
        wait: Duration,
    ) -> Result<InboxPage, StateError> {
        let deadline = Instant::now() + wait;
        let mut stop = self.stop.clone();
        loop {
            // Boxed to shrink this future, of which every waiting reader holds one.
            let mut page = Box::pin(self.page(poll)).await?;
            page.superseded = waiter.is_superseded();
            let remaining = deadline.saturating_duration_since(Instant::now());
            if !page.events.is_empty()
                || page.superseded
                || remaining.is_zero()
                || self.is_stopping()
            {
                return Ok(page);
            }
            let end = self.clock.now().plus(remaining);
            let next_check = page.visible_at.map_or(end, |at| at.min(end));
            tokio::select! {
                wake = waiter.wait_for_wake() => if wake == Wake::Superseded {
                    return Ok(InboxPage { superseded: true, ..page });
                },
                () = self.clock.sleep_until(next_check) => {}
                // An error means that the sender was dropped, which also stops the host.
                _ = stop.wait_for(|stopping| *stopping) => {}
            }
        }
    }

    /// Returns a page at once, and makes its events invisible for the visibility timeout.
    pub async fn page(&self, poll: &Poll) -> Result<InboxPage, StateError> {
        let now = self.clock.now();
        let head = self.head(&poll.agent_id).await?;
        if poll.cursor.is_some_and(|cursor| cursor > head) {
            return Err(StateError::CursorInvalid);
        }
        let invisible = self.visibility.invisible(&poll.agent_id, now);
        let mut withheld_subjects: BTreeSet<String> = BTreeSet::new();
        let mut first_withheld = None;
        let mut selected: Vec<InboxEntry> = Vec::new();
        // If the inbox has this many invisible events, only those after the cursor are read, and
        // none for a reader without a cursor.
        let (mut after, mut has_more) = match invisible.len() >= MAX_UNACKNOWLEDGED {
            true => (poll.cursor.unwrap_or(head), false),
            false => (0, false),
        };
        let mut bytes = 0;
        'entries: loop {
            let entries = self
                .store
                .unacknowledged(&poll.agent_id, after, &poll.types, MAX_CHUNK_ENTRIES)
                .await?;
            let is_last_chunk = entries.len() < MAX_CHUNK_ENTRIES;
            for entry in entries {
                after = entry.seq;
                let is_after_cursor = poll.cursor.is_some_and(|cursor| entry.seq > cursor);
                let is_withheld = invisible.contains_key(&entry.seq)
                    || withheld_subjects.contains(&entry.subject);
                if is_withheld && !is_after_cursor {
                    if poll.cursor.is_none() {
                        first_withheld.get_or_insert(entry.seq);
                    }
                    withheld_subjects.insert(entry.subject);
                    continue;
                }
                bytes += entry.data.len();
                if selected.len() >= poll.limit || (bytes > MAX_PAGE_BYTES && !selected.is_empty())
                {
                    has_more = true;
                    break 'entries;
                }
                selected.push(entry);
            }
            if is_last_chunk {
                break;
            }
        }
        self.visibility.add(&poll.agent_id, &selected, now);
        let new_cursor = selected.last().map_or(head, |last| last.seq);
        // A reader without a cursor may have lost what is invisible now. Its cursor begins before that,
        // or it would see later events on the same subject first.
        let new_cursor = first_withheld.map_or(new_cursor, |seq| new_cursor.min(seq - 1));
        let event =
            |entry: &InboxEntry| envelope(entry, &self.source, &poll.agent_id, poll.test_mode);
        Ok(InboxPage {
            events: selected.iter().map(event).collect(),
            cursor: poll.cursor.map_or(new_cursor, |cursor| cursor.max(new_cursor)),
            has_more,
            superseded: false,
            visible_at: invisible.values().min().copied(),
        })
    }

    /// Refuses a cursor that is beyond the newest event of the reader's inbox.
    pub async fn ensure_cursor(&self, poll: &Poll) -> Result<(), StateError> {
        let Some(cursor) = poll.cursor else { return Ok(()) };
        match cursor > self.head(&poll.agent_id).await? {
            true => Err(StateError::CursorInvalid),
            false => Ok(()),
        }
    }

    /// Returns the newest sequence, or 0 for an empty inbox. Stores the time of the poll about once
    /// a day.
    async fn head(&self, agent_id: &str) -> Result<u64, StateError> {
        let head = self.current_head(agent_id).await?;
        let now = self.clock.now();
        let last_poll = head.and_then(|head| head.polled_at);
        if last_poll.is_none_or(|at| at.as_millis() + POLL_UPDATE_INTERVAL_MS < now.as_millis()) {
            let mut unit = Unit::new(self.store.clone(), now);
            unit.add_command(OutboxCommand::Polled { agent_id: agent_id.to_owned(), at: now });
            unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        }
        Ok(head.map_or(0, |head| head.last))
    }

    /// Returns the state of an inbox, after the events to all listeners that it did not have were added.
    pub(crate) async fn current_head(&self, agent_id: &str) -> Result<Option<InboxHead>, DbError> {
        let head = self.store.inbox_head(agent_id).await?;
        if !head.is_some_and(|head| head.is_behind) {
            return Ok(head);
        }
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        unit.add_command(OutboxCommand::AddBroadcasts { agent_id: agent_id.to_owned() });
        if let Err(error) = unit.commit(Attachments::default()).await {
            // An inbox can be read also while nothing can be written. The next read adds the events.
            tracing::warn!(%error, "events to all listeners cannot be added to an inbox");
            return Ok(head);
        }
        self.store.inbox_head(agent_id).await
    }

    /// Acknowledges events within a unit. Returns the ids that are in this inbox, and those that are not.
    pub async fn acknowledge(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        event_ids: Vec<String>,
    ) -> Result<(Vec<String>, Vec<String>), StateError> {
        let sequences = self.store.inbox_sequences(agent_id, &event_ids).await?;
        for seq in sequences.values() {
            let agent_id = agent_id.to_owned();
            unit.add_command(OutboxCommand::Mark { agent_id, seq: *seq, acknowledged: true });
        }
        self.visibility.remove(agent_id, &sequences.values().copied().collect());
        Ok(event_ids.into_iter().partition(|id| sequences.contains_key(id)))
    }

    /// Acknowledges events in a unit of its own.
    pub async fn acknowledge_now(
        &self,
        agent_id: &str,
        event_ids: Vec<String>,
    ) -> Result<(Vec<String>, Vec<String>), StateError> {
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let acknowledged = self.acknowledge(&mut unit, agent_id, event_ids).await?;
        if !unit.has_no_writes() {
            unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        }
        Ok(acknowledged)
    }

    /// Marks acknowledged events that occurred at or after `since` as unacknowledged, so that they are
    /// delivered again: the first `MAX_REPLAYED` of these types. Returns the number of these events.
    pub async fn replay(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        since: Timestamp,
        types: &[String],
    ) -> Result<usize, StateError> {
        let replayed = self.store.acknowledged_since(agent_id, since, types, MAX_REPLAYED).await?;
        for seq in &replayed {
            let agent_id = agent_id.to_owned();
            unit.add_command(OutboxCommand::Mark { agent_id, seq: *seq, acknowledged: false });
        }
        self.visibility.clear(agent_id);
        Ok(replayed.len())
    }
}
