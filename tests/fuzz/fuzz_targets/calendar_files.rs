//! Calendar files that a person's agent imports.
#![no_main]

use calendar::CalendarCapability;
use libfuzzer_sys::fuzz_target;
use portolan_sdk::test;
use serde_json::{Value, json};

const NOW: &str = "2026-11-01T09:00:00Z";

fuzz_target!(|data: &[u8]| {
    let Ok(ics) = std::str::from_utf8(data) else { return };
    let mut world = test::world().of::<CalendarCapability>().at(NOW);
    if world.call("import_ics", &json!({ "ics": ics })).is_err() {
        return;
    }
    // A second import changes nothing, and what is exported can be imported by somebody else.
    let again = world.call("import_ics", &json!({ "ics": ics })).unwrap();
    for count in ["added", "replaced", "removed"] {
        assert_eq!(again.get(count), Some(&json!(0)), "{again}");
    }
    let exported = world.call("export_ics", &json!({})).unwrap();
    let exported = exported.get("ics").and_then(Value::as_str).unwrap();
    let mut other = test::world().of::<CalendarCapability>().at(NOW);
    other.call("import_ics", &json!({ "ics": exported })).unwrap();
});
