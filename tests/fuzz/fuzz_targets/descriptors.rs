//! Descriptors as a host publishes them, and their comparison: `[[entry, schema], [entry, schema]]` in
//! JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_catalog::{find_breaking_changes, fuzzing, published_version, stored_conflicts};
use portolan_vocabulary::{Descriptor, Limits, Status};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(versions) = serde_json::from_slice::<[(Value, Value); 2]>(data) else { return };
    let [old, new] = versions.map(|(entry, schema)| {
        let unpublished = unpublished();
        published_version(&entry, &schema, &unpublished)
    });
    for descriptor in [&old, &new] {
        let problems = fuzzing::problems(descriptor, &Limits::default());
        if problems.is_empty() {
            let changes = find_breaking_changes(descriptor, descriptor);
            assert!(changes.is_empty(), "a version breaks itself: {changes:?}");
        }
    }
    find_breaking_changes(&old, &new);
    assert!(stored_conflicts(&old, &new).is_empty(), "neither has collections");
});

/// Returns the fields that a host does not publish.
fn unpublished() -> Descriptor {
    Descriptor {
        id: "fuzz".to_owned(),
        version: String::new(),
        title: "Fuzz".to_owned(),
        summary: "Reads anything.".to_owned(),
        description: String::new(),
        tags: Vec::new(),
        status: Status::Stable,
        sunset_at: None,
        successor: None,
        actions: Vec::new(),
        default_action: None,
        errors: Vec::new(),
        collections: Vec::new(),
        invokes: Vec::new(),
        publishes: Vec::new(),
        subscriptions: Vec::new(),
        state_machines: Vec::new(),
        roles: Vec::new(),
        prompts: Vec::new(),
        annotations: Vec::new(),
    }
}
