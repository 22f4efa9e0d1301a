//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Meetings")
        .things(&["items"])
        .columns(&[
            "title",
            "state",
            "chosen_slot.start",
            "chosen_slot.end",
            "time_zone",
            "respond_by",
        ])
        .glance()
}

pub(crate) fn decline() -> PersonPage {
    PersonPage::in_section("Meetings")
        .titled("Decline")
        .about(&[("meeting_id", "meeting_id"), ("expected_version", "version")])
        .fields(&["reason"])
        .confirm("Decline this meeting, for everybody.")
}

pub(crate) fn cancel() -> PersonPage {
    PersonPage::in_section("Meetings")
        .titled("Cancel")
        .about(&[("meeting_id", "meeting_id"), ("expected_version", "version")])
        .fields(&["reason"])
        .confirm("Cancel this meeting, for everybody.")
}
