//! Events as their readers get them: CloudEvents 1.0 in JSON.

use portolan_store::InboxEntry;
use serde_json::{Map, Value, json};

/// Returns a sequence as a text that sorts as the number does.
pub(crate) fn sequence_text(seq: u64) -> String {
    format!("{seq:020}")
}

/// Returns an event as the reader of an inbox gets it.
pub(crate) fn envelope(
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
    // An event that is only sent to a webhook is in no inbox, and has no sequence.
    if entry.seq > 0 {
        event.insert("sequence".to_owned(), json!(sequence_text(entry.seq)));
    }
    event.insert("data".to_owned(), data);
    event
}
