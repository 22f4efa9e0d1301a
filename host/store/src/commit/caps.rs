//! The counts of people's caps, in the transaction that writes the events, under the owner's lock.

use crate::{
    connection::{Statements, Transaction},
    error::DbError,
    integers::{signed, unsigned},
};
use portolan_vocabulary::{Cap, OwnerRules, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The number of events that a cap has let through, and the end of its time.
#[derive(Debug, Clone, Copy)]
struct Count {
    delivered: u64,
    until: Timestamp,
}

/// The counts of caps by name: first those in the database, then with the events of this transaction.
#[derive(Debug, Default)]
pub(super) struct CapCounts {
    counts: BTreeMap<String, Count>,
    changed: BTreeSet<String>,
}

impl CapCounts {
    /// Takes the counts that were read: the name of each cap, the number of events, and the end of the cap's time.
    pub(super) fn of(counts: Vec<(String, i64, i64)>) -> Self {
        let count = |(name, delivered, until): (String, i64, i64)| {
            let until = Timestamp::from_millis(unsigned(until));
            (name, Count { delivered: unsigned(delivered), until })
        };
        Self { counts: counts.into_iter().map(count).collect(), changed: BTreeSet::new() }
    }

    /// Counts an event that is delivered now. If a cap is reached, counts nothing; the error is then the time
    /// when that cap counts anew.
    pub(super) fn count(
        &mut self,
        rules: &OwnerRules,
        event_type: &str,
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        let mut counted = Vec::new();
        for cap in rules.rules.caps_of(event_type) {
            let count = self.current(rules, cap, now);
            if count.delivered >= u64::from(cap.most) {
                return Err(count.until);
            }
            counted.push((name(rules, cap), Count { delivered: count.delivered + 1, ..count }));
        }
        self.changed.extend(counted.iter().map(|(name, _)| name.clone()));
        self.counts.extend(counted);
        Ok(())
    }

    /// Returns whether a cap lets no further event of this type through.
    pub(super) fn is_reached(&self, rules: &OwnerRules, event_type: &str, now: Timestamp) -> bool {
        let is_reached = |cap: &Cap| self.current(rules, cap, now).delivered >= u64::from(cap.most);
        rules.rules.caps_of(event_type).any(is_reached)
    }

    /// Returns the count of a cap in its period, which begins now if there is none.
    fn current(&self, rules: &OwnerRules, cap: &Cap, now: Timestamp) -> Count {
        let count = self.counts.get(&name(rules, cap)).copied();
        let count = count.filter(|count| count.until > now);
        count.unwrap_or(Count { delivered: 0, until: now.plus(cap.period()) })
    }

    /// Writes the counts that have changed.
    pub(super) async fn write(
        &self,
        transaction: &mut Transaction,
        statements: &Statements,
    ) -> Result<(), DbError> {
        let row = |name: &String| {
            let Count { delivered, until } = self.counts.get(name)?;
            Some(json!([name, delivered, 1, signed(until.as_millis())]))
        };
        let counts: Vec<Value> = self.changed.iter().filter_map(row).collect();
        transaction.run(&statements.put_counts, counts).await
    }
}

/// Returns the name of the counter of a cap.
pub(super) fn name(rules: &OwnerRules, cap: &Cap) -> String {
    format!("cap/{}/{}/{}", rules.owner_id, cap.events, cap.hours)
}
