//! Bodies of calls: JSON against the schemas of a shipped capability, and JSON as it is stored.
#![no_main]

use calendar::CalendarCapability;
use libfuzzer_sys::fuzz_target;
use portolan_catalog::Schema;
use portolan_sdk::contract::Guest as _;
use portolan_vocabulary::plain_json;
use serde_json::Value;
use std::sync::LazyLock;

static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let actions = CalendarCapability::describe().actions;
    let schema = |text: &str| Schema::new(serde_json::from_str(text).unwrap(), 256 << 10).unwrap();
    actions.iter().map(|action| schema(&action.input)).collect()
});

fuzz_target!(|data: &[u8]| {
    let _answer = portolan_mcp::parse_error_response(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(body) = serde_json::from_str::<Value>(text) else { return };
    for schema in SCHEMAS.iter() {
        assert_eq!(schema.accepts(&body), schema.violations(&body).is_none());
    }
    let stored = plain_json(text.to_owned(), &body);
    assert_eq!(serde_json::from_str::<Value>(&stored).unwrap(), body);
    assert!(every_text(&body).all(|id| stored.contains(id)), "an id is hidden in {stored}");
});

/// Returns the texts and names in a value that have the form of an id.
fn every_text(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    let is_id = |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match value {
        Value::String(text) => Box::new(Some(text.as_str()).filter(is_id).into_iter()),
        Value::Array(items) => Box::new(items.iter().flat_map(every_text)),
        Value::Object(fields) => {
            let names = fields.keys().map(String::as_str).filter(is_id);
            Box::new(names.chain(fields.values().flat_map(every_text)))
        }
        _ => Box::new(std::iter::empty()),
    }
}
