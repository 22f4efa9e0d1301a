//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn groups() -> PersonPage {
    PersonPage::in_section("Times with others")
        .things(&["items"])
        .columns(&["title", "state", "your_answer", "people", "asked_today", "asked_at"])
        .input("state", "open")
        .glance()
}

/// A form about a group, which says `text` in place of the action's title.
fn of_group(text: &'static str) -> PersonPage {
    PersonPage::in_section("Times with others")
        .titled(text)
        .about(&[("group_id", "group_id"), ("expected_version", "version")])
}

pub(crate) fn accept() -> PersonPage {
    of_group("Agree to be asked")
        .confirm("Times that suit me may be found, without showing my calendar.")
}

pub(crate) fn decline() -> PersonPage {
    of_group("Decline")
}

pub(crate) fn leave() -> PersonPage {
    of_group("Leave")
}

pub(crate) fn close() -> PersonPage {
    of_group("Close").confirm("Close this group for everybody.")
}

pub(crate) fn bookings() -> PersonPage {
    PersonPage::in_section("Booked meetings")
        .things(&["items"])
        .columns(&["title", "state", "start", "end"])
        .input("state", "confirmed")
        .glance()
}

pub(crate) fn cancel_booking() -> PersonPage {
    PersonPage::in_section("Booked meetings")
        .titled("Cancel")
        .about(&[("booking_id", "booking_id"), ("expected_version", "version")])
        .confirm("Cancel this meeting, for everybody.")
}

pub(crate) fn links() -> PersonPage {
    PersonPage::in_section("Booking links")
        .things(&["items"])
        .columns(&["title", "link_id", "state", "booked"])
        .input("state", "open")
}

pub(crate) fn close_link() -> PersonPage {
    PersonPage::in_section("Booking links")
        .titled("Close")
        .about(&[("link_id", "link_id"), ("expected_version", "version")])
        .confirm("Nobody can book by this link any more.")
}
