//! The quotas of a capability, with their defaults; the configuration changes them, also for single
//! capabilities.

use crate::is_capability_id;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// The kinds of quotas. Each mode of a capability has the whole quotas of what is stored for itself; quotas
/// per minute and per day are for both modes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quota {
    Documents,
    DocumentsAndTombstones,
    Bytes,
    Timers,
    OwnerDocumentsPerDay,
    OwnerBytesPerDay,
    EventBytesPerDay,
    InboxEventsPerMinute,
    LogBytesPerMinute,
    QueryMs,
}

/// A quota as the configuration and operators name it.
#[derive(Debug, Clone, Copy)]
pub struct QuotaRow {
    pub quota: Quota,
    pub name: &'static str,
    pub default: u64,
    /// The smallest permitted value.
    pub minimum: u64,
}

const ROWS: [QuotaRow; 10] = [
    row(Quota::Documents, "documents", 5_000_000, 0),
    row(Quota::DocumentsAndTombstones, "documents_and_tombstones", 20_000_000, 0),
    row(Quota::Bytes, "bytes", 4 << 30, 0),
    row(Quota::Timers, "timers", 250_000, 0),
    row(Quota::OwnerDocumentsPerDay, "owner_documents_per_day", 50_000, 1),
    row(Quota::OwnerBytesPerDay, "owner_bytes_per_day", 256 << 20, 1),
    row(Quota::EventBytesPerDay, "event_bytes_per_day", 256 << 20, 1),
    row(Quota::InboxEventsPerMinute, "inbox_events_per_minute", 600, 1),
    row(Quota::LogBytesPerMinute, "log_bytes_per_minute", 1 << 20, 1),
    row(Quota::QueryMs, "query_ms", 500, 1),
];

const fn row(quota: Quota, name: &'static str, default: u64, minimum: u64) -> QuotaRow {
    QuotaRow { quota, name, default, minimum }
}

impl Quota {
    /// Returns every quota, in a fixed order.
    pub fn table() -> &'static [QuotaRow] {
        &ROWS
    }

    /// Returns the name of the setting.
    pub fn name(self) -> &'static str {
        ROWS.iter().find(|row| row.quota == self).map_or("", |row| row.name)
    }
}

/// The `[quotas]` table of the configuration: limits for all capabilities, and a table for each
/// capability with limits of its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quotas(BTreeMap<String, Setting>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Setting {
    ForAll(u64),
    ForOne(BTreeMap<String, u64>),
}

impl Quotas {
    /// Returns the limit of a capability. Returns `None` for the host's own records, which have a name that
    /// begins with `:` in place of a capability's id.
    pub fn limit(&self, capability: &str, quota: Quota) -> Option<u64> {
        if capability.starts_with(':') {
            return None;
        }
        let row = ROWS.iter().find(|row| row.quota == quota)?;
        let own = match self.0.get(capability) {
            Some(Setting::ForOne(limits)) => limits.get(row.name),
            _ => None,
        };
        let for_all = match self.0.get(row.name) {
            Some(Setting::ForAll(limit)) => Some(limit),
            _ => None,
        };
        Some(*own.or(for_all).unwrap_or(&row.default))
    }

    /// Returns a limit in milliseconds as a time. Returns `Duration::MAX` for the host's own records.
    pub fn time(&self, capability: &str, quota: Quota) -> Duration {
        self.limit(capability, quota).map_or(Duration::MAX, Duration::from_millis)
    }

    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, setting) in &self.0 {
            match setting {
                Setting::ForAll(limit) => faults.extend(limit_fault("quotas", name, *limit)),
                Setting::ForOne(limits) => {
                    if !is_capability_id(name) {
                        faults.push(format!("quotas has {name:?}: write the id of a capability"));
                    }
                    let table = format!("quotas.{name:?}");
                    faults.extend(
                        limits.iter().filter_map(|(name, limit)| limit_fault(&table, name, *limit)),
                    );
                }
            }
        }
        faults
    }
}

fn limit_fault(table: &str, name: &str, limit: u64) -> Option<String> {
    let Some(row) = ROWS.iter().find(|row| row.name == name) else {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Some(format!("{table} has {name:?}: write one of {}", names.join(", ")));
    };
    let minimum = row.minimum;
    (limit < minimum).then(|| format!("{table}.{name} is {limit}: it must be at least {minimum}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn quotas(settings: serde_json::Value) -> Quotas {
        serde_json::from_value(settings).unwrap()
    }

    #[test]
    fn a_capability_has_its_own_limits_then_those_of_all_then_the_defaults() {
        let quotas = quotas(json!({ "timers": 7, "documents": 9, "notes": { "documents": 3 } }));
        assert_eq!(quotas.limit("notes", Quota::Documents), Some(3));
        assert_eq!(quotas.limit("notes", Quota::Timers), Some(7));
        assert_eq!(quotas.limit("other", Quota::Documents), Some(9));
        assert_eq!(quotas.limit("other", Quota::Bytes), Some(4 << 30));
        assert_eq!(quotas.limit(":host", Quota::Documents), None);
        assert_eq!(quotas.faults(), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_reported_with_its_fix() {
        let quotas = quotas(json!({
            "document": 1, "log_bytes_per_minute": 0, "Notes": {}, "notes": { "byte": 1 },
        }));
        let faults = quotas.faults().join("\n");
        for part in [
            "quotas has \"document\": write one of documents",
            "quotas.log_bytes_per_minute is 0: it must be at least 1",
            "quotas has \"Notes\": write the id of a capability",
            "quotas.\"notes\" has \"byte\": write one of",
        ] {
            assert!(faults.contains(part), "{part}: {faults}");
        }
    }
}
