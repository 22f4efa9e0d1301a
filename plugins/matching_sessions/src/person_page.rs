//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Your matching")
        .things(&["items"])
        .columns(&["mode", "state", "progress", "listing_id", "created_at", "expires_at"])
        .glance()
}

pub(crate) fn pause() -> PersonPage {
    PersonPage::in_section("Your matching")
        .titled("Pause")
        .about(&[("session_id", "session_id"), ("expected_version", "version")])
}

pub(crate) fn resume() -> PersonPage {
    PersonPage::in_section("Your matching")
        .titled("Resume")
        .about(&[("session_id", "session_id"), ("expected_version", "version")])
}

pub(crate) fn close() -> PersonPage {
    PersonPage::in_section("Your matching")
        .titled("Close")
        .about(&[("session_id", "session_id"), ("expected_version", "version")])
        .confirm("Close this matching session for good.")
}
