//! The effects other than documents that a call adds to its unit of work.

use super::{guard::Guard, unit_of_work::Unit};
use crate::effects::{AuditRecord, NewEvent, OutboxCommand, TimerChange, TimerKey};
use std::{collections::BTreeMap, sync::Arc};

impl Unit {
    pub fn publish(&mut self, event: NewEvent) {
        if let Some(layer) = self.layers.last_mut() {
            layer.events.push(event);
        }
    }

    /// Adds what undoes something that is stored outside of the database. It runs when the writes that follow are
    /// rolled back, discarded or refused, and not when they are committed or when nobody knows whether they are.
    pub fn guard(&mut self, undo: impl FnOnce() + Send + Sync + 'static) {
        if let Some(layer) = self.layers.last_mut() {
            layer.guards.push(Arc::new(Guard::new(undo)));
        }
    }

    pub fn add_command(&mut self, command: OutboxCommand) {
        if let Some(layer) = self.layers.last_mut() {
            layer.commands.push(command);
        }
    }

    /// Returns the commands that were added and not rolled back, in order.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &OutboxCommand> {
        self.layers.iter().flat_map(|layer| &layer.commands)
    }

    pub fn change_timer(&mut self, key: TimerKey, change: TimerChange) {
        if let Some(layer) = self.layers.last_mut() {
            layer.timers.insert(key, change);
        }
    }

    /// Returns this call's latest change of a timer.
    pub fn timer_change(&self, key: &TimerKey) -> Option<&TimerChange> {
        self.layers.iter().rev().find_map(|layer| layer.timers.get(key))
    }

    /// Returns this call's latest change of each timer.
    pub fn timer_changes(&self) -> BTreeMap<&TimerKey, &TimerChange> {
        self.layers.iter().flat_map(|layer| &layer.timers).collect()
    }

    /// Returns the events that were published and not rolled back, in order.
    pub fn events(&self) -> impl Iterator<Item = &NewEvent> {
        self.layers.iter().flat_map(|layer| &layer.events)
    }

    pub fn events_mut(&mut self) -> impl Iterator<Item = &mut NewEvent> {
        self.layers.iter_mut().flat_map(|layer| &mut layer.events)
    }

    /// Counts bytes that the call writes.
    pub fn count_written(&mut self, bytes: usize) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    /// Returns the bytes of memory that the host holds for the call. A written document counts three
    /// times: its text, its parsed form, and its keys in indexes.
    pub fn held_bytes(&self) -> usize {
        self.written_bytes.saturating_mul(3).saturating_add(self.read_bytes)
    }

    /// Sets the maximum number of bytes that further reads may take. A read beyond it fails with `Limit`.
    pub fn set_read_limit(&mut self, bytes: usize) {
        self.read_limit = bytes;
    }

    /// Sets the capability that the next queries count for: they run within its share of the connections and
    /// its quota of time.
    pub fn set_reader(&mut self, capability: &Arc<str>) {
        self.reader = Arc::clone(capability);
    }

    /// Counts a nested call, and returns how many nested calls there have been in the whole call.
    pub fn count_nested_call(&mut self) -> usize {
        self.nested_calls += 1;
        self.nested_calls
    }

    /// Records a nested call for the audit log. If the call is refused, the record is discarded with the
    /// call's writes, unless `keep_if_refused` is set.
    pub fn record_nested_call(&mut self, record: AuditRecord, keep_if_refused: bool) {
        self.kept_audit.extend(keep_if_refused.then(|| record.clone()));
        self.audit.push(record);
    }

    /// Adds a row to the audit log, which is committed with the writes.
    pub fn record_audit(&mut self, record: AuditRecord) {
        self.audit.push(record);
    }

    pub fn event_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.events.len()).sum()
    }

    pub fn timer_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.timers.len()).sum()
    }

    /// Returns the number of changes of a capability's timers, cancellations included.
    pub fn timers_set_for(&self, capability: &str) -> usize {
        let keys = self.layers.iter().flat_map(|layer| layer.timers.keys());
        keys.filter(|key| key.capability == capability).count()
    }
}
