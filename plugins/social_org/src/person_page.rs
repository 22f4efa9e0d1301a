//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list_mine() -> PersonPage {
    PersonPage::in_section("Organisations")
        .things(&["items"])
        .columns(&[
            "name",
            "kind",
            "state",
            "verified",
            "membership.role",
            "membership.state",
            "members_count",
        ])
        .glance()
}

pub(crate) fn respond_invite() -> PersonPage {
    PersonPage::in_section("Organisations")
        .titled("Answer the invitation")
        .about(&[("org_id", "org_id")])
        .fields(&["decision"])
}

pub(crate) fn leave() -> PersonPage {
    PersonPage::in_section("Organisations")
        .titled("Leave")
        .about(&[("org_id", "org_id"), ("expected_version", "version")])
        .confirm("Leave this organisation.")
}
