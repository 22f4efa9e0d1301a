//! Events as their readers get them: CloudEvents 1.0 in JSON.

use portolan_store::InboxEntry;
use serde_json::{Map, Value, json};

/// A sequence as a text that sorts as the number does.
pub(super) fn sequence(seq: u64) -> String {
    format!("{seq:020}")
}

/// The event in the inbox of an agent.
pub(super) fn envelope(
    entry: &InboxEntry,
    source: &str,
    agent_id: &str,
    test_mode: bool,
) -> Map<String, Value> {
    let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
    let mut event = Map::from_iter([
        ("specversion".to_owned(), json!("1.0")),
        ("id".to_owned(), json!(entry.event_id)),
        ("source".to_owned(), json!(source)),
        ("type".to_owned(), json!(entry.event_type)),
        ("subject".to_owned(), json!(entry.subject)),
        ("time".to_owned(), json!(entry.occurred_at)),
        ("datacontenttype".to_owned(), json!("application/json")),
        ("agentid".to_owned(), json!(agent_id)),
        ("testmode".to_owned(), json!(test_mode)),
    ]);
    // What is only sent is in no inbox.
    if entry.seq > 0 {
        event.insert("sequence".to_owned(), json!(sequence(entry.seq)));
    }
    event.insert("data".to_owned(), data);
    event
}
