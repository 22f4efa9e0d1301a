//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list_grants() -> PersonPage {
    PersonPage::in_section("Permissions that you gave")
        .input("object", "owner:me")
        .things(&["items"])
        .columns(&["relation", "subject", "object", "expires_at", "granted"])
}

pub(crate) fn revoke() -> PersonPage {
    PersonPage::in_section("Permissions that you gave")
        .titled("Revoke")
        .about(&[("subject", "subject"), ("relation", "relation"), ("object", "object")])
        .confirm("Revoke this permission.")
}
