//! The events that people's delivery rules hold, in the transaction that writes the events: which new ones
//! are held, and what of that is written.

use super::{caps::CapCounts, overflow::count_overflow, reads::HeldState};
use crate::{
    connection::{Statements, Transaction},
    effects::NewEvent,
    error::DbError,
    integers::{signed, unsigned},
};
use portolan_vocabulary::{
    HELD_EVENTS, OwnerRules, Timestamp, Timing, is_always_delivered, new_request_id,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The smallest due time of an owner's held events: of those that wait, of those that are summarized, and of
/// those that are only counted.
type NextDue = (String, Option<i64>, Option<i64>, Option<i64>);

/// The events that are held, released and counted in a transaction.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) caps: CapCounts,
    /// Rows of events to be held: the owner, the event's id, the due time, and whether it is summarized.
    held: Vec<Value>,
    /// Keys of rows of events that are held no longer.
    ended: Vec<Value>,
    /// Rows of owners: the owner, and the sequence that the release has reached.
    reached: Vec<Value>,
    /// The due time of the first held event of each owner, with the owner's mode.
    due: BTreeMap<String, (bool, Timestamp)>,
    /// The owners whose held events are due and not all released yet. Further events for them follow these.
    behind: BTreeSet<String>,
    /// The owners whose held events are released in this transaction, so that their timers have ended.
    released: BTreeMap<String, Arc<OwnerRules>>,
    /// The owners whose rules have changed.
    reconsidered: BTreeSet<String>,
    /// The time of the latest event or release.
    now: Timestamp,
}

impl Holding {
    /// Begins with the counts of the owners' caps. `now` is the time of the latest event or release, and
    /// `reconsidered` are the owners whose rules have changed.
    pub(super) fn new(caps: CapCounts, reconsidered: &[&str], now: Timestamp) -> Self {
        Self {
            caps,
            held: Vec::new(),
            ended: Vec::new(),
            reached: Vec::new(),
            due: BTreeMap::new(),
            behind: BTreeSet::new(),
            released: BTreeMap::new(),
            reconsidered: reconsidered.iter().map(|owner_id| (*owner_id).to_owned()).collect(),
            now,
        }
    }

    /// Returns rows with the owners of new events whose held events may be due: all but those whose release has ended
    /// in this transaction.
    pub(super) fn owners(&self, events: &[&NewEvent]) -> Vec<Value> {
        let owners: BTreeSet<&String> =
            events.iter().filter_map(|event| Some(&event.rules.as_ref()?.owner_id)).collect();
        let has_passed = |owner_id: &&String| {
            self.released.contains_key(*owner_id) && !self.reconsidered.contains(*owner_id)
        };
        let owners = owners.into_iter().filter(|owner_id| !has_passed(owner_id));
        let now = signed(self.now.as_millis());
        owners.map(|owner_id| json!([owner_id, now])).collect()
    }

    /// Notes the owners of new events whose held events are due.
    pub(super) fn note_behind(&mut self, states: Vec<HeldState>) {
        for (owner_id, released_to, due) in states {
            let is_behind =
                released_to.is_some() || due != 0 || self.reconsidered.contains(&owner_id);
            if is_behind {
                self.behind.insert(owner_id);
            }
        }
    }

    /// Returns whether a new event is delivered now. Otherwise it is dropped or held, as the rules say.
    pub(super) fn admits(&mut self, event: &NewEvent) -> bool {
        let Some(rules) = &event.rules else { return true };
        if event.agents.is_empty() && !event.has_email {
            return false;
        }
        let now = event.occurred_at;
        match rules.rules.timing(event.parts(), now) {
            Timing::Never => return false,
            Timing::Later(until) => {
                self.hold(rules, &event.id, until, false);
                return false;
            }
            Timing::Now => {}
        }
        if is_always_delivered(&event.event_type) {
            return true;
        }
        if self.behind.contains(&rules.owner_id) {
            self.hold(rules, &event.id, now, false);
            return false;
        }
        if let Err(until) = self.caps.count(rules, &event.event_type, now) {
            self.hold(rules, &event.id, until, true);
            return false;
        }
        true
    }

    /// Holds an event until then, or holds it on.
    pub(super) fn hold(
        &mut self,
        rules: &OwnerRules,
        event_id: &str,
        until: Timestamp,
        summarized: bool,
    ) {
        let until_ms = signed(until.as_millis());
        self.held.push(json!([rules.owner_id, event_id, until_ms, u8::from(summarized)]));
        self.note_due(&rules.owner_id, rules.test_mode, until);
    }

    /// Ends the holding of an event.
    pub(super) fn end(&mut self, owner_id: &str, seq: i64) {
        self.ended.push(json!([owner_id, seq]));
    }

    /// Notes a step of a release, and the sequence that it has reached; `None` if the release has ended.
    pub(super) fn reach(&mut self, rules: &Arc<OwnerRules>, seq: Option<i64>) {
        self.released.insert(rules.owner_id.clone(), Arc::clone(rules));
        self.reached.push(json!([rules.owner_id, seq]));
        if seq.is_some() {
            self.behind.insert(rules.owner_id.clone());
            self.note_due(&rules.owner_id, rules.test_mode, self.now);
        }
    }

    fn note_due(&mut self, owner_id: &str, test_mode: bool, at: Timestamp) {
        // A timer that is due is not set before others that are due.
        let at = at.max(self.now);
        let due = self.due.entry(owner_id.to_owned()).or_insert((test_mode, at));
        due.1 = due.1.min(at);
    }

    /// Writes what is held, released and counted, and the timers of what is held. Returns whether there are
    /// any timers.
    pub(super) async fn write(
        mut self,
        transaction: &mut Transaction,
        statements: &Statements,
    ) -> Result<bool, DbError> {
        transaction.run(&statements.held.drop, std::mem::take(&mut self.ended)).await?;
        transaction.run(&statements.held.put, std::mem::take(&mut self.held)).await?;
        self.caps.write(transaction, statements).await?;
        transaction.run(&statements.held.put_reached, std::mem::take(&mut self.reached)).await?;
        // Changed rules apply to all events that are held, also to those that a release has passed.
        let reconsidered = self.reconsidered.iter().map(|owner_id| json!([owner_id, 0])).collect();
        transaction.run(&statements.held.put_reached, reconsidered).await?;
        let owners = self.due.keys().map(|owner_id| json!([owner_id])).collect();
        let counted = count_overflow(transaction, statements, owners, self.now).await?;
        for (owner_id, at) in counted {
            if let Some((test_mode, _)) = self.due.get(&owner_id).copied() {
                self.note_due(&owner_id, test_mode, at);
            }
        }
        let owners = self.released.keys().map(|owner_id| json!([owner_id])).collect();
        let rest: Vec<NextDue> = transaction.find(&statements.held.next, owners).await?;
        for (owner_id, waiting, summarized, counted) in rest {
            let due = [waiting, summarized, counted].into_iter().flatten().min();
            if let (Some(due), Some(rules)) = (due, self.released.get(&owner_id).cloned()) {
                self.note_due(&owner_id, rules.test_mode, Timestamp::from_millis(unsigned(due)));
            }
        }
        let timer = |(owner_id, (test_mode, at)): (&String, &(bool, Timestamp))| {
            let (mode, setting) = (u8::from(*test_mode), new_request_id(*at).to_string());
            let at = signed(at.as_millis());
            json!([HELD_EVENTS, owner_id, mode, setting, "", "{}", at, at, 0])
        };
        let timers: Vec<Value> = self.due.iter().map(timer).collect();
        let has_timers = !timers.is_empty();
        transaction.run(&statements.advance_timers, timers).await?;
        Ok(has_timers)
    }
}
