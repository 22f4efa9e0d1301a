//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Saved searches")
        .things(&["items"])
        .columns(&["name", "state", "frequency", "waiting", "next_event_at"])
        .glance()
}

pub(crate) fn pause() -> PersonPage {
    PersonPage::in_section("Saved searches")
        .titled("Pause")
        .about(&[("search_id", "search_id"), ("expected_version", "version")])
}

pub(crate) fn resume() -> PersonPage {
    PersonPage::in_section("Saved searches")
        .titled("Resume")
        .about(&[("search_id", "search_id"), ("expected_version", "version")])
}

pub(crate) fn delete() -> PersonPage {
    PersonPage::in_section("Saved searches")
        .titled("Delete")
        .about(&[("search_id", "search_id"), ("expected_version", "version")])
        .confirm("Delete this search for good.")
}
