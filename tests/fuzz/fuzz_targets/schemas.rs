//! Schemas of a hostile author and instances of a hostile caller: `[schema, instance]` in JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_catalog::{Schema, fuzzing, hoist};
use serde_json::Value;

/// The limit of a call's body.
const MAX_BYTES: u64 = 256 << 10;

fuzz_target!(|data: &[u8]| {
    let Ok((document, instance)) = serde_json::from_slice::<(Value, Value)>(data) else { return };
    let _hoisted = hoist(&document, "#/components/schemas/", "fuzz");
    let Ok(schema) = Schema::new(document.clone(), MAX_BYTES) else { return };
    assert_eq!(schema.accepts(&instance), schema.violations(&instance).is_none());
    if let Some(visits) = fuzzing::visits(&document, &instance) {
        assert!(visits.real <= visits.computed, "{visits:?}");
    }
});
