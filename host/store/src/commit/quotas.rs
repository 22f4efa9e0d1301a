//! Compares units of work, one after the other, with the quotas of their capabilities.

use super::inbox_rates::{InboxKey, InboxRates};
use crate::{
    changes::Changes,
    document::CollectionId,
    effects::{Audience, Task, TimerChange, TimerKey},
    integers::signed,
    usage::{ExceededQuota, Usage, capability_of, scope},
};
use portolan_vocabulary::{Bucket, Quota, Quotas, Timestamp};
use std::collections::BTreeMap;

/// What each capability takes, first as the database has it, then with the writes of each valid unit.
#[derive(Debug)]
pub(super) struct QuotaState<'a> {
    quotas: &'a Quotas,
    /// By scope: a capability in one mode.
    usage: BTreeMap<String, Usage>,
    scopes: BTreeMap<CollectionId, String>,
    /// The bytes of each timer that exists.
    timers: BTreeMap<TimerKey, i64>,
    inboxes: &'a InboxRates,
    /// The buckets that the valid units have taken from.
    buckets: BTreeMap<InboxKey, Bucket>,
    /// The time of the latest event.
    now: Timestamp,
}

impl<'a> QuotaState<'a> {
    pub(super) fn new(quotas: &'a Quotas, inboxes: &'a InboxRates) -> Self {
        let (usage, scopes, timers, buckets, now) = Default::default();
        Self { quotas, usage, scopes, timers, inboxes, buckets, now }
    }

    pub(super) fn add_collection(&mut self, id: CollectionId, scope: String, usage: Usage) {
        self.usage.insert(scope.clone(), usage);
        self.scopes.insert(id, scope);
    }

    /// Adds a timer that a unit may change; `bytes` is none if it does not exist.
    pub(super) fn add_timer(&mut self, key: &TimerKey, bytes: Option<i64>, usage: Usage) {
        self.usage.insert(scope(&key.capability, key.test_mode), usage);
        self.timers.extend(bytes.map(|bytes| (key.clone(), bytes)));
    }

    /// Returns a quota that the unit would exceed.
    pub(super) fn exceeded(&self, changes: &Changes) -> Option<ExceededQuota> {
        let stored = self.growth(changes).iter().find_map(|(scope, growth)| {
            let usage = self.usage.get(scope).copied().unwrap_or_default();
            usage.exceeds(growth, capability_of(scope), self.quotas)
        });
        stored.or_else(|| self.take(changes).err())
    }

    /// Applies the writes of a valid unit.
    pub(super) fn apply(&mut self, changes: &Changes) {
        for (scope, growth) in self.growth(changes) {
            *self.usage.entry(scope).or_default() += growth;
        }
        for (key, bytes) in timers(changes) {
            match bytes {
                Some(bytes) => self.timers.insert(key.clone(), bytes),
                None => self.timers.remove(key),
            };
        }
        if let Ok(buckets) = self.take(changes) {
            self.buckets.extend(buckets);
        }
        self.now =
            changes.events.iter().map(|event| event.occurred_at).fold(self.now, Timestamp::max);
    }

    /// Keeps the number of events for the next transactions, after this one is committed.
    pub(super) fn keep_rates(self) {
        self.inboxes.keep(self.buckets, self.now);
    }

    /// Takes the unit's events to each inbox from its bucket.
    fn take(&self, changes: &Changes) -> Result<BTreeMap<InboxKey, Bucket>, ExceededQuota> {
        const QUOTA: Quota = Quota::InboxEventsPerMinute;
        let mut events: BTreeMap<InboxKey, (u64, Timestamp)> = BTreeMap::new();
        for event in &changes.events {
            let agents = match &event.audience {
                Audience::Agent(id) => std::slice::from_ref(id),
                Audience::Owner(_) => &event.agents,
                Audience::Capabilities | Audience::Listeners | Audience::Webhook { .. } => &[],
            };
            for agent in agents {
                let key = (event.capability.clone(), agent.clone());
                events.entry(key).or_insert((0, event.occurred_at)).0 += 1;
            }
        }
        let mut taken = BTreeMap::new();
        for (key, (events, at)) in events {
            let Some(limit) = self.quotas.limit(&key.0, QUOTA) else { continue };
            let bucket = self.buckets.get(&key).copied();
            let bucket = bucket.unwrap_or_else(|| self.inboxes.bucket(&key));
            let bucket = bucket.take(events, limit, at).map_err(|wait| ExceededQuota {
                capability: key.0.clone(),
                quota: QUOTA,
                limit,
                wait: Some(wait),
            })?;
            taken.insert(key, bucket);
        }
        Ok(taken)
    }

    /// Returns by how much the unit changes what each scope takes.
    fn growth(&self, changes: &Changes) -> BTreeMap<String, Usage> {
        let mut all: BTreeMap<String, Usage> = BTreeMap::new();
        for (collection, growth) in &changes.growth {
            let Some(scope) = self.scopes.get(collection) else { continue };
            *all.entry(scope.clone()).or_default() += *growth;
        }
        for (key, bytes) in timers(changes) {
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

/// Returns the bytes of each timer after the unit; none if it then does not exist.
fn timers(changes: &Changes) -> BTreeMap<&TimerKey, Option<i64>> {
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
