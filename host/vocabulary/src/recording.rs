//! Which calls are recorded, and how much of them is kept.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

const DAY_MS: u64 = 24 * 3600 * 1000;

/// The operator's settings of recordings.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordingSettings {
    /// Whether calls are recorded at all.
    pub enabled: bool,
    /// The share of calls that are kept, from 0 to 1. Calls that fail through no fault of their caller are all kept.
    pub share: f64,
    /// How long a recording is kept.
    pub days: u64,
    /// The maximum number of recordings. The oldest ones are removed first.
    pub calls: u64,
    /// The maximum number of bytes of all recordings, compressed and sealed.
    pub bytes: u64,
    /// The maximum number of bytes of what one call asks and is answered. A call that takes more is not kept.
    pub call_bytes: u64,
}

impl Default for RecordingSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            share: 0.01,
            days: 7,
            calls: 10_000,
            bytes: 256 << 20,
            call_bytes: 256 << 10,
        }
    }
}

impl RecordingSettings {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !(0.0..=1.0).contains(&self.share) {
            faults.push(format!("recording.share is {}: it must be 0 to 1", self.share));
        }
        if !(1..=90).contains(&self.days) {
            faults.push(format!("recording.days is {}: it must be 1 to 90", self.days));
        }
        let least = [
            ("calls", self.calls, 1),
            ("bytes", self.bytes, 1 << 20),
            ("call_bytes", self.call_bytes, 1 << 10),
        ];
        for (name, value, minimum) in least {
            if value < minimum {
                faults.push(format!("recording.{name} is {value}: it must be at least {minimum}"));
            }
        }
        faults
    }

    /// Returns the time before which recordings are removed.
    pub fn oldest(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.as_millis().saturating_sub(self.days * DAY_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        assert!(RecordingSettings::default().faults().is_empty());
        let faulty = RecordingSettings {
            enabled: true,
            share: 1.5,
            days: 0,
            calls: 0,
            bytes: 0,
            call_bytes: 0,
        };
        let faults = faulty.faults();
        for name in ["share", "days", "calls", "bytes", "call_bytes"] {
            assert!(
                faults.iter().any(|fault| fault.starts_with(&format!("recording.{name} "))),
                "{name}"
            );
        }
    }
}
