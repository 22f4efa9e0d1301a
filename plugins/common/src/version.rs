//! Changes that expect a version.

use portolan_sdk::prelude::*;

#[derive(Serialize)]
struct VersionConflict<T> {
    kind: &'static str,
    expected: u64,
    current_version: u64,
    current: T,
}

/// Refuses the change of a thing that is no longer what its caller read: `version_conflict` with the
/// thing as it is, and the call that reads it. Without an expectation, anything goes.
pub fn expect_version<T: Serialize>(
    expected: Option<u64>,
    current_version: u64,
    current: impl FnOnce() -> T,
    read: Next,
) -> Result<(), Refusal> {
    let Some(expected) = expected.filter(|expected| *expected != current_version) else {
        return Ok(());
    };
    let mut refusal =
        Refusal::common("version_conflict", "It has changed since the expected version was read.");
    refusal.conflict = Some(Box::new(portolan_sdk::to_value(&VersionConflict {
        kind: "version",
        expected,
        current_version,
        current: current(),
    })));
    refusal.next = Some(Box::new(read));
    Err(refusal)
}
