//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Proposals")
        .things(&["items"])
        .columns(&[
            "other.listing.title",
            "role",
            "state",
            "other.display_name",
            "other.owner_id",
            "created_at",
            "expires_at",
        ])
        .glance()
}

pub(crate) fn reply() -> PersonPage {
    PersonPage::in_section("Proposals")
        .titled("Answer")
        .about(&[("pairing_id", "pairing_id"), ("expected_version", "version")])
        .fields(&["decision", "message", "reason_code"])
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section("Proposals")
        .titled("Withdraw")
        .about(&[("pairing_id", "pairing_id"), ("expected_version", "version")])
        .confirm("Withdraw this proposal.")
}

pub(crate) fn close() -> PersonPage {
    PersonPage::in_section("Proposals")
        .titled("Close")
        .about(&[("pairing_id", "pairing_id"), ("expected_version", "version")])
        .fields(&["outcome"])
        .confirm("Close this connection and its conversation for good. Contact data that was exchanged stays.")
}
