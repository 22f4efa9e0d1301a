//! The events that people's delivery rules hold, in the transaction that writes the events: which new ones
//! are held, and which held ones are delivered.

use crate::{
    connection::{HELD_AT_ONCE, Statements, Transaction},
    effects::{Audience, NewEvent, Release},
    error::DbError,
    integers::{signed, unsigned},
};
use portolan_vocabulary::{
    EventParts, HELD_EVENTS, OwnerRules, Timestamp, Timing, is_always_delivered, new_request_id,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// A held event that is delivered now.
#[derive(Debug)]
pub(super) struct Released {
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) occurred_at: Timestamp,
    pub(super) agents: Vec<String>,
}

/// The number of events that a cap has let through, and the end of its time.
#[derive(Debug, Clone, Copy)]
struct Count {
    delivered: u64,
    until: Timestamp,
}

/// A held event: its sequence, id, type, subject and data, the kind and id of its audience, its time, and
/// its due time, which is 0 if the rules have changed since it was held.
type HeldRow = (i64, String, String, String, String, String, Option<String>, i64, i64);

/// What is held, released and counted in a transaction.
#[derive(Debug, Default)]
pub(super) struct Holding {
    /// Rows of events to be held: the owner, the event's id, the due time, and whether it is summarized.
    held: Vec<Value>,
    /// Keys of rows of events that are held no longer.
    ended: Vec<Value>,
    counts: BTreeMap<String, Count>,
    changed_counts: BTreeMap<String, Count>,
    /// The due time of the first held event of each owner, with the owner's mode.
    due: BTreeMap<String, (bool, Timestamp)>,
    /// The owners whose held events are due and not all delivered yet. Further events for them follow these.
    behind: Vec<String>,
    /// The owners whose held events are released by due work, whose timer has ended.
    released: Vec<Arc<OwnerRules>>,
}

impl Holding {
    /// Reads what the rules of the events' owners need, and returns the held events that are delivered now,
    /// in their order.
    pub(super) async fn begin(
        transaction: &mut Transaction,
        statements: &Statements,
        events: &[&NewEvent],
        releases: &[&Release],
    ) -> Result<(Self, Vec<Released>), DbError> {
        let mut holding = Self::default();
        let mut owners: BTreeMap<&str, (&Arc<OwnerRules>, &[String], Timestamp)> = BTreeMap::new();
        let mut names = Vec::new();
        for event in events {
            let Some(rules) = event.rules.as_ref().filter(|rules| rules.rules.can_hold()) else {
                continue;
            };
            names.extend(
                rules
                    .rules
                    .caps_of(&event.event_type)
                    .map(|cap| name(rules, &cap.events, cap.hours)),
            );
            // An event for one agent only does not tell who else gets the held events.
            if matches!(event.audience, Audience::Owner(_)) {
                owners.insert(&rules.owner_id, (rules, &event.agents, event.occurred_at));
            }
        }
        names.sort_unstable();
        names.dedup();
        let names = names.into_iter().map(|name| json!([name])).collect();
        let counts: Vec<(String, i64, i64)> = transaction.find(&statements.counts, names).await?;
        let count = |(name, delivered, until): (String, i64, i64)| {
            let until = Timestamp::from_millis(unsigned(until));
            (name, Count { delivered: unsigned(delivered), until })
        };
        holding.counts = counts.into_iter().map(count).collect();
        for release in releases {
            let summarized = release.summarized.iter();
            let owner_id = &release.rules.owner_id;
            holding.ended.extend(summarized.map(|seq| json!([owner_id, signed(*seq)])));
            holding.released.push(Arc::clone(&release.rules));
            owners.insert(owner_id, (&release.rules, &release.agents, release.at));
        }
        let mut released = Vec::new();
        for (rules, agents, now) in owners.into_values() {
            let key = vec![json!([rules.owner_id, signed(now.as_millis())])];
            let rows: Vec<HeldRow> = transaction.find(&statements.due_held, key).await?;
            if rows.len() == HELD_AT_ONCE {
                holding.behind.push(rules.owner_id.clone());
                holding.note_due(rules, now);
            }
            let rows = rows.into_iter();
            released.extend(rows.filter_map(|row| holding.release(rules, agents, row, now)));
        }
        Ok((holding, released))
    }

    /// Returns a held event that is delivered now. Another one is dropped or held on, as the rules say.
    fn release(
        &mut self,
        rules: &OwnerRules,
        agents: &[String],
        row: HeldRow,
        now: Timestamp,
    ) -> Option<Released> {
        let (seq, event_id, event_type, subject, data, audience, audience_id, at, due_at) = row;
        let event = EventParts { event_type: &event_type, subject: &subject, data: &data };
        let timing = match due_at {
            0 => rules.rules.timing(event, now),
            _ => rules.rules.timing_of_held(event, now),
        };
        match timing {
            Timing::Later(until) => {
                self.hold(rules, &event_id, until, false);
                return None;
            }
            Timing::Never => {
                self.ended.push(json!([rules.owner_id, seq]));
                return None;
            }
            Timing::Now => self.ended.push(json!([rules.owner_id, seq])),
        }
        let is_for = |agent: &&String| audience != "agent" || audience_id.as_ref() == Some(*agent);
        let agents = agents.iter().filter(is_for).cloned().collect();
        let occurred_at = Timestamp::from_millis(unsigned(at));
        Some(Released { event_id, event_type, occurred_at, agents })
    }

    /// Returns whether a new event is delivered now. Otherwise it is dropped or held, as the rules say.
    pub(super) fn admits(&mut self, event: &NewEvent) -> bool {
        let Some(rules) = &event.rules else { return true };
        if event.agents.is_empty() {
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
        let mut counted = Vec::new();
        for cap in rules.rules.caps_of(&event.event_type) {
            let name = name(rules, &cap.events, cap.hours);
            let count = self.counts.get(&name).copied().filter(|count| count.until > now);
            let count = count.unwrap_or(Count { delivered: 0, until: now.plus(cap.period()) });
            if count.delivered >= u64::from(cap.most) {
                self.hold(rules, &event.id, count.until, true);
                return false;
            }
            counted.push((name, Count { delivered: count.delivered + 1, ..count }));
        }
        self.counts.extend(counted.iter().cloned());
        self.changed_counts.extend(counted);
        true
    }

    fn hold(&mut self, rules: &OwnerRules, event_id: &str, until: Timestamp, summarized: bool) {
        let until_ms = signed(until.as_millis());
        self.held.push(json!([rules.owner_id, event_id, until_ms, u8::from(summarized)]));
        self.note_due(rules, until);
    }

    fn note_due(&mut self, rules: &OwnerRules, at: Timestamp) {
        let due = self.due.entry(rules.owner_id.clone()).or_insert((rules.test_mode, at));
        due.1 = due.1.min(at);
    }

    /// Writes what is held, released and counted, and the timers of what is held. Returns whether there are
    /// any timers.
    pub(super) async fn write(
        mut self,
        transaction: &mut Transaction,
        statements: &Statements,
    ) -> Result<bool, DbError> {
        transaction.run(&statements.drop_held, std::mem::take(&mut self.ended)).await?;
        transaction.run(&statements.put_held, std::mem::take(&mut self.held)).await?;
        let count = |(name, count): (&String, &Count)| {
            json!([name, count.delivered, 1, signed(count.until.as_millis())])
        };
        let counts = self.changed_counts.iter().map(count).collect();
        transaction.run(&statements.put_counts, counts).await?;
        let owners = self.released.iter().map(|rules| json!([rules.owner_id])).collect();
        let rest: Vec<(String, i64)> = transaction.find(&statements.next_held, owners).await?;
        let rest: BTreeMap<String, i64> = rest.into_iter().collect();
        for rules in std::mem::take(&mut self.released) {
            if let Some(due) = rest.get(&rules.owner_id) {
                self.note_due(&rules, Timestamp::from_millis(unsigned(*due)));
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

/// Returns the name of the counter of a cap.
fn name(rules: &OwnerRules, events: &str, hours: u32) -> String {
    format!("cap/{}/{events}/{hours}", rules.owner_id)
}
