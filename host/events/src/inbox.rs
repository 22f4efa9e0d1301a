//! What an agent is handed of its inbox, and what comes again.
//!
//! Whatever is not acknowledged comes again. A reader with a cursor says itself how far it is: it
//! gets what is behind it, at once. Whatever else was handed out rests for a while first; and as long
//! as it rests, what is behind it on the same subject is held back, so that a reader without a cursor
//! sees each subject in its order.

use crate::{
    Events,
    envelope::envelope,
    waiting::{Waiter, Wake},
};
use moka::sync::Cache;
use portolan_store::{Attachments, DbError, InboxEntry, OutboxCommand, StateError, Unit};
use portolan_vocabulary::Timestamp;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long what was handed out rests before it comes again.
const REST: Duration = Duration::from_secs(60);
/// What may be handed out and not acknowledged at once.
const OPEN: usize = 1_000;
/// Entries that are read at once.
const CHUNK: usize = 200;
/// A page ends early rather than holding much more than this.
const PAGE_BYTES: usize = 512 << 10;
/// Agents of whom it is remembered what they were handed.
const REMEMBERED: u64 = 100_000;
/// How exactly it is known when an agent last asked.
const POLLED_MS: u64 = 24 * 3600 * 1000;
/// Events that come again at most.
const REPLAYED: usize = 10_000;

/// What was handed out lately, by agent: until then it rests.
#[derive(Debug)]
pub(super) struct HandedOut(Cache<Arc<str>, Arc<Mutex<BTreeMap<u64, Instant>>>>);

impl Default for HandedOut {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(REMEMBERED).time_to_idle(REST).build())
    }
}

impl HandedOut {
    fn of(&self, agent_id: &str, now: Instant) -> BTreeMap<u64, Instant> {
        let Some(handed_out) = self.0.get(agent_id) else { return BTreeMap::new() };
        let mut handed_out = handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        handed_out.retain(|_, until| *until > now);
        handed_out.clone()
    }

    fn add(&self, agent_id: &Arc<str>, entries: &[InboxEntry], now: Instant) {
        let handed_out = self.0.get_with(Arc::clone(agent_id), Arc::default);
        let mut handed_out = handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        handed_out.extend(entries.iter().map(|entry| (entry.seq, now + REST)));
    }

    /// These are done with.
    fn remove(&self, agent_id: &str, done: &BTreeSet<u64>) {
        if let Some(handed_out) = self.0.get(agent_id) {
            let mut handed_out = handed_out.lock().unwrap_or_else(PoisonError::into_inner);
            handed_out.retain(|seq, _| !done.contains(seq));
        }
    }

    fn forget(&self, agent_id: &str) {
        self.0.invalidate(agent_id);
    }
}

/// What a reader asks for.
#[derive(Debug)]
pub struct Poll {
    pub agent_id: Arc<str>,
    pub test_mode: bool,
    /// Where it stands.
    pub cursor: Option<u64>,
    /// Empty means all.
    pub types: Vec<String>,
    pub limit: usize,
}

/// What a reader gets.
#[derive(Debug)]
pub struct Polled {
    /// In the order of their sequence.
    pub events: Vec<Map<String, Value>>,
    /// Where these end.
    pub cursor: u64,
    pub has_more: bool,
    /// Another reader of the same agent has taken the place.
    pub superseded: bool,
    /// When something that was handed out comes again, if nothing else comes before.
    again: Option<Instant>,
}

impl Events {
    /// Takes the agent's place among those who wait; whoever has it is let go.
    pub fn enter(&self, agent_id: &Arc<str>) -> Waiter {
        self.waiting.enter(agent_id)
    }

    /// A page, as soon as there is something or the time is over.
    pub async fn poll(
        &self,
        waiter: &Waiter,
        poll: &Poll,
        wait: Duration,
    ) -> Result<Polled, StateError> {
        let deadline = Instant::now() + wait;
        let mut stop = self.stop.clone();
        loop {
            // By itself, so that whoever waits holds no room for it.
            let mut polled = Box::pin(self.page(poll)).await?;
            polled.superseded = waiter.is_superseded();
            let until = polled.again.map_or(deadline, |again| again.min(deadline));
            let over = Instant::now() >= deadline || self.is_stopping();
            if !polled.events.is_empty() || polled.superseded || over {
                return Ok(polled);
            }
            tokio::select! {
                wake = waiter.woken() => if wake == Wake::Superseded {
                    return Ok(Polled { superseded: true, ..polled });
                },
                () = tokio::time::sleep_until(until.into()) => {}
                // The sender goes away only when the process ends.
                _ = stop.wait_for(|stopping| *stopping) => {}
            }
        }
    }

    /// What there is now, handed out with this.
    pub async fn page(&self, poll: &Poll) -> Result<Polled, StateError> {
        let now = Instant::now();
        let head = self.head(&poll.agent_id).await?;
        if poll.cursor.is_some_and(|cursor| cursor > head) {
            return Err(StateError::CursorInvalid);
        }
        let resting = self.handed_out.of(&poll.agent_id, now);
        let mut held: BTreeSet<String> = BTreeSet::new();
        let mut first_held = None;
        let mut chosen: Vec<InboxEntry> = Vec::new();
        // With so much open, only what is behind the cursor is looked at.
        let (mut after, mut has_more) = match resting.len() >= OPEN {
            true => (poll.cursor.unwrap_or(head), false),
            false => (0, false),
        };
        let mut bytes = 0;
        'entries: loop {
            let entries =
                self.store.unacknowledged(&poll.agent_id, after, &poll.types, CHUNK).await?;
            let last = entries.len() < CHUNK;
            for entry in entries {
                after = entry.seq;
                let is_behind = poll.cursor.is_some_and(|cursor| entry.seq > cursor);
                if !is_behind && (resting.contains_key(&entry.seq) || held.contains(&entry.subject))
                {
                    if poll.cursor.is_none() {
                        first_held.get_or_insert(entry.seq);
                    }
                    held.insert(entry.subject);
                    continue;
                }
                bytes += entry.data.len();
                if chosen.len() >= poll.limit || (bytes > PAGE_BYTES && !chosen.is_empty()) {
                    has_more = true;
                    break 'entries;
                }
                chosen.push(entry);
            }
            if last {
                break;
            }
        }
        self.handed_out.add(&poll.agent_id, &chosen, now);
        let reached = chosen.last().map_or(head, |last| last.seq);
        // A reader that comes without a cursor has perhaps lost what rests: its cursor begins before
        // that, or it would see what follows on the same subject first.
        let reached = first_held.map_or(reached, |seq| reached.min(seq - 1));
        let event =
            |entry: &InboxEntry| envelope(entry, &self.source, &poll.agent_id, poll.test_mode);
        Ok(Polled {
            events: chosen.iter().map(event).collect(),
            cursor: poll.cursor.map_or(reached, |cursor| cursor.max(reached)),
            has_more,
            superseded: false,
            again: resting.values().min().copied(),
        })
    }

    /// Whether the reader's cursor is one of its inbox.
    pub async fn check(&self, poll: &Poll) -> Result<(), StateError> {
        let Some(cursor) = poll.cursor else { return Ok(()) };
        match cursor > self.head(&poll.agent_id).await? {
            true => Err(StateError::CursorInvalid),
            false => Ok(()),
        }
    }

    /// The newest sequence. That the agent asks is noted, about once a day.
    async fn head(&self, agent_id: &str) -> Result<u64, StateError> {
        let head = self.store.inbox_head(agent_id).await?;
        let now = Timestamp::now();
        let noted = head.and_then(|(_, polled)| polled);
        if noted.is_none_or(|at| at.as_millis() + POLLED_MS < now.as_millis()) {
            let mut unit = Unit::new(self.store.clone(), now);
            unit.add_command(OutboxCommand::Polled { agent_id: agent_id.to_owned(), at: now });
            unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        }
        Ok(head.map_or(0, |(last, _)| last))
    }

    /// Marks events as done within a unit: which ones are of this inbox, and which are not known.
    pub async fn acknowledge(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        event_ids: Vec<String>,
    ) -> Result<(Vec<String>, Vec<String>), StateError> {
        let places = self.store.inbox_sequences(agent_id, &event_ids).await?;
        for seq in places.values() {
            let agent_id = agent_id.to_owned();
            unit.add_command(OutboxCommand::Mark { agent_id, seq: *seq, acknowledged: true });
        }
        self.handed_out.remove(agent_id, &places.values().copied().collect());
        Ok(event_ids.into_iter().partition(|id| places.contains_key(id)))
    }

    /// The same by itself.
    pub async fn acknowledge_now(
        &self,
        agent_id: &str,
        event_ids: Vec<String>,
    ) -> Result<(Vec<String>, Vec<String>), StateError> {
        let mut unit = Unit::new(self.store.clone(), Timestamp::now());
        let acknowledged = self.acknowledge(&mut unit, agent_id, event_ids).await?;
        if !unit.writes_nothing() {
            unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        }
        Ok(acknowledged)
    }

    /// Lets what happened since then come again; answers how many events that are.
    pub async fn replay(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        since: Timestamp,
        types: &[String],
    ) -> Result<usize, StateError> {
        let done = self.store.acknowledged_since(agent_id, since, REPLAYED).await?;
        let wanted =
            |(_, event_type): &(u64, String)| types.is_empty() || types.contains(event_type);
        let done: Vec<u64> = done.into_iter().filter(wanted).map(|(seq, _)| seq).collect();
        for seq in &done {
            let agent_id = agent_id.to_owned();
            unit.add_command(OutboxCommand::Mark { agent_id, seq: *seq, acknowledged: false });
        }
        self.handed_out.forget(agent_id);
        Ok(done.len())
    }
}
