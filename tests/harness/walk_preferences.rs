//! The preferences of two people of a random walk, and the events that reached them.

use crate::harness::{Host, walk::Walker};
use serde_json::{Value, json};
use std::time::Duration;

/// The walker who wants no event of the families in `UNWANTED`, and the one whose quiet hours outlast the
/// walk.
pub const UNINTERESTED: usize = 0;
pub const SLEEPING: usize = 1;
pub const UNWANTED: [&str; 5] = ["conversation", "match", "meeting", "pairing", "relationship"];

/// Sets the preferences of the two, and returns the instant after which they are in force.
pub async fn set_preferences(host: &Host, walkers: &[Walker<'_>]) -> String {
    walkers[UNINTERESTED].prefer(json!({ "disabled_events": UNWANTED })).await;
    let [from, to] = [Duration::ZERO, Duration::from_secs(12 * 3600)]
        .map(|time| host.instant_after(time)[11..16].to_owned());
    let quiet = json!({ "from": from, "to": to, "time_zone": "UTC" });
    walkers[SLEEPING].prefer(json!({ "quiet_hours": quiet })).await;
    host.instant_after(Duration::ZERO)
}

impl Walker<'_> {
    async fn prefer(&self, mut fields: Value) {
        fields["action"] = json!("set_preferences");
        self.agent().result("owners", fields).await;
    }

    /// Returns the preferences that are in force.
    pub async fn preferences(&self) -> Value {
        self.agent().result("owners", json!({ "action": "get_preferences" })).await
    }

    /// Returns the types of the events in the inbox that occurred at or after this instant.
    pub async fn event_types_since(&self, instant: &str) -> Vec<String> {
        let page = self.seeker.lister.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let is_later = |event: &&Value| event["time"].as_str().unwrap() >= instant;
        events.filter(is_later).map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}
