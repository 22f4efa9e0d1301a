//! Compares units of work, one after the other, with the quotas of their capabilities.

use super::rates::{RateKey, Rates};
use crate::{
    changes::Changes,
    document::CollectionId,
    effects::{Audience, Task, TimerChange, TimerKey},
    integers::signed,
    usage::{ExceededQuota, Usage, capability_of, scope},
};
use portolan_vocabulary::{Bucket, DAY, MINUTE, Quota, Quotas, Timestamp};
use std::{collections::BTreeMap, time::Duration};

/// The bytes that an event takes in the database, with its indexes and without its texts.
const EVENT_BYTES: usize = 300;
/// The bytes that an entry of an inbox takes, or a delivery to a subscriber.
const ENTRY_BYTES: usize = 150;

/// The usage of each capability: first that in the database, then with the writes of each valid unit added.
#[derive(Debug)]
pub(super) struct QuotaState<'a> {
    quotas: &'a Quotas,
    /// The usage by scope, which is a capability in one mode.
    usage: BTreeMap<String, Usage>,
    scopes: BTreeMap<CollectionId, String>,
    /// The bytes of each timer that exists.
    timers: BTreeMap<TimerKey, i64>,
    rates: &'a Rates,
    /// The buckets that the valid units have taken from.
    buckets: BTreeMap<RateKey, Bucket>,
    /// The time of the latest valid unit.
    now: Timestamp,
}

impl<'a> QuotaState<'a> {
    pub(super) fn new(quotas: &'a Quotas, rates: &'a Rates) -> Self {
        let (usage, scopes, timers, buckets, now) = Default::default();
        Self { quotas, usage, scopes, timers, rates, buckets, now }
    }

    pub(super) fn add_collection(&mut self, id: CollectionId, scope: String, usage: Usage) {
        self.usage.insert(scope.clone(), usage);
        self.scopes.insert(id, scope);
    }

    /// Adds a timer that a unit may change, and the usage of its capability. `bytes` is `None` if the timer
    /// does not exist.
    pub(super) fn add_timer(&mut self, key: &TimerKey, bytes: Option<i64>, usage: Usage) {
        self.usage.insert(scope(&key.capability, key.test_mode), usage);
        self.timers.extend(bytes.map(|bytes| (key.clone(), bytes)));
    }

    /// Returns a quota that the unit would exceed, if there is one.
    pub(super) fn find_exceeded(&self, changes: &Changes) -> Option<ExceededQuota> {
        let stored = self.growth(changes).iter().find_map(|(scope, growth)| {
            let usage = self.usage.get(scope).copied().unwrap_or_default();
            usage.find_exceeded(growth, capability_of(scope), self.quotas)
        });
        stored.or_else(|| self.take_from_buckets(changes).err())
    }

    /// Applies the writes of a valid unit.
    pub(super) fn apply(&mut self, changes: &Changes) {
        for (scope, growth) in self.growth(changes) {
            *self.usage.entry(scope).or_default() += growth;
        }
        for (key, bytes) in timer_bytes(changes) {
            match bytes {
                Some(bytes) => self.timers.insert(key.clone(), bytes),
                None => self.timers.remove(key),
            };
        }
        if let Ok(buckets) = self.take_from_buckets(changes) {
            self.buckets.extend(buckets);
        }
        self.now = changes.audit.iter().map(|record| record.at).fold(self.now, Timestamp::max);
    }

    /// Keeps the buckets for the next transactions. To be called after this transaction is committed.
    pub(super) fn store_rates(self) {
        self.rates.store(self.buckets, self.now);
    }

    /// Returns the buckets after the unit's amounts are taken out: its events, in all and for each inbox, and
    /// what the caller's owner adds. The error is a quota of which too little is left.
    fn take_from_buckets(
        &self,
        changes: &Changes,
    ) -> Result<BTreeMap<RateKey, Bucket>, ExceededQuota> {
        let mut taken = BTreeMap::new();
        for ((key, period), (amount, at)) in self.amounts(changes) {
            let (quota, capability, _) = &key;
            let Some(limit) = self.quotas.limit(capability, *quota) else { continue };
            let bucket = self.buckets.get(&key).copied();
            let bucket = bucket.unwrap_or_else(|| self.rates.bucket(&key));
            let bucket =
                bucket.take(amount, (limit, period), at).map_err(|wait| ExceededQuota {
                    capability: capability.clone(),
                    quota: *quota,
                    limit,
                    wait: Some(wait),
                })?;
            taken.insert(key, bucket);
        }
        Ok(taken)
    }

    /// Returns the amount that the unit takes of each quota per minute or day, with the time of taking.
    fn amounts(&self, changes: &Changes) -> BTreeMap<(RateKey, Duration), (u64, Timestamp)> {
        let mut amounts = BTreeMap::new();
        let mut add =
            |quota, period, capability: &str, holder: &str, amount: u64, at: Timestamp| {
                let key = ((quota, capability.to_owned(), holder.to_owned()), period);
                amounts.entry(key).or_insert((0, at)).0 += amount;
            };
        for event in &changes.events {
            let agents = match &event.audience {
                Audience::Agent(id) => std::slice::from_ref(id),
                Audience::Owner(_) => &event.agents,
                Audience::Capabilities | Audience::Listeners | Audience::Webhook { .. } => &[],
            };
            for agent in agents {
                let (quota, at) = (Quota::InboxEventsPerMinute, event.occurred_at);
                add(quota, MINUTE, &event.capability, agent, 1, at);
            }
            let texts = event.event_type.len() + event.subject.len() + event.data.len();
            let entries = agents.len() + event.subscribers.len();
            let bytes = (texts + EVENT_BYTES + entries * ENTRY_BYTES) as u64;
            add(Quota::EventBytesPerDay, DAY, &event.capability, "", bytes, event.occurred_at);
        }
        let caller =
            changes.audit.iter().find_map(|record| Some((record.owner_id.as_ref()?, record.at)));
        if let Some((owner, at)) = caller {
            if let Some(stored) = &changes.answer {
                let bytes = stored.answer.len() as u64;
                add(Quota::OwnerBytesPerDay, DAY, &stored.key.capability, owner, bytes, at);
            }
            for (scope, growth) in self.growth(changes) {
                let capability = capability_of(&scope);
                let added = [
                    (Quota::OwnerDocumentsPerDay, growth.documents),
                    (Quota::OwnerBytesPerDay, growth.bytes),
                ];
                for (quota, amount) in added {
                    if let Ok(amount @ 1..) = u64::try_from(amount) {
                        add(quota, DAY, capability, owner, amount, at);
                    }
                }
            }
        }
        amounts
    }

    /// Returns by how much the unit changes the usage of each scope.
    fn growth(&self, changes: &Changes) -> BTreeMap<String, Usage> {
        let mut all: BTreeMap<String, Usage> = BTreeMap::new();
        for (collection, growth) in &changes.growth {
            let Some(scope) = self.scopes.get(collection) else { continue };
            *all.entry(scope.clone()).or_default() += *growth;
        }
        for (key, bytes) in timer_bytes(changes) {
            let usage = |bytes: Option<i64>| Usage {
                timers: i64::from(bytes.is_some()),
                bytes: bytes.unwrap_or(0),
                ..Usage::default()
            };
            let growth = all.entry(scope(&key.capability, key.test_mode)).or_default();
            *growth += usage(bytes);
            *growth -= usage(self.timers.get(key).copied());
        }
        all
    }
}

/// Returns the bytes of each timer that the unit changes; `None` if the unit removes the timer.
fn timer_bytes(changes: &Changes) -> BTreeMap<&TimerKey, Option<i64>> {
    let mut after = BTreeMap::new();
    if let Some(Task::Timer { key, .. }) = &changes.task {
        after.insert(key, None);
    }
    for (key, change) in &changes.timers {
        let bytes = match change {
            TimerChange::Set { action, input, .. } => {
                Some(signed((key.name.len() + action.len() + input.len()) as u64))
            }
            TimerChange::Cancel => None,
        };
        after.insert(key, bytes);
    }
    after
}
