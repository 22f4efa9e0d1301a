//! The operator's settings of webhooks.

use serde::{Deserialize, Serialize};

/// The operator's settings.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// The time-out of a request.
    pub timeout_seconds: u64,
    /// The wait after each failed attempt. When the last retry fails too, the delivery is dead.
    pub retry_seconds: Vec<u64>,
    /// The time after which a webhook is disabled if every request to it fails.
    pub disable_after_hours: u64,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        let (minute, hour) = (60, 3600);
        Self {
            timeout_seconds: 15,
            retry_seconds: vec![
                5,
                5 * minute,
                30 * minute,
                2 * hour,
                5 * hour,
                10 * hour,
                14 * hour,
                20 * hour,
                24 * hour,
            ],
            disable_after_hours: 120,
        }
    }
}

impl WebhookSettings {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !(1..=60).contains(&self.timeout_seconds) {
            let seconds = self.timeout_seconds;
            faults.push(format!("webhooks.timeout_seconds is {seconds}: it must be 1 to 60"));
        }
        if self.disable_after_hours == 0 {
            faults.push("webhooks.disable_after_hours is 0: it must be at least 1".to_owned());
        }
        faults
    }
}
