//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn blocked() -> PersonPage {
    PersonPage::in_section("Blocked people")
        .things(&["items"])
        .columns(&["display_name", "owner_id", "since"])
        .glance()
}

pub(crate) fn unblock() -> PersonPage {
    PersonPage::in_section("Blocked people").titled("Unblock").about(&[("owner_id", "owner_id")])
}

pub(crate) fn block() -> PersonPage {
    PersonPage::in_section("Blocked people")
        .titled("Block a person")
        .fields(&["owner_id"])
        .confirm("End all contact with this person, in both directions.")
}

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Relationships")
        .things(&["items"])
        .columns(&["display_name", "kind", "direction", "state", "owner_id", "since"])
        .glance()
}

pub(crate) fn accept() -> PersonPage {
    PersonPage::in_section("Relationships")
        .titled("Accept")
        .about(&[("owner_id", "owner_id"), ("kind", "kind")])
}

pub(crate) fn reject() -> PersonPage {
    PersonPage::in_section("Relationships")
        .titled("Reject")
        .about(&[("owner_id", "owner_id"), ("kind", "kind")])
}

pub(crate) fn unfollow() -> PersonPage {
    PersonPage::in_section("Relationships")
        .titled("Stop following")
        .about(&[("owner_id", "owner_id")])
}

pub(crate) fn disconnect() -> PersonPage {
    PersonPage::in_section("Relationships").titled("Disconnect").about(&[("owner_id", "owner_id")])
}

pub(crate) fn unmute() -> PersonPage {
    PersonPage::in_section("Relationships").titled("Unmute").about(&[("owner_id", "owner_id")])
}
