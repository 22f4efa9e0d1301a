//! What a person sees of this capability on their own page, and can do there.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Applications and enquiries")
        .things(&["items"])
        .columns(&["title", "kind", "role", "state", "created_at", "expires_at"])
        .glance()
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section("Applications and enquiries")
        .titled("Withdraw")
        .about(&[("application_id", "application_id"), ("expected_version", "version")])
        .confirm("Withdraw this application.")
}

pub(crate) fn answer() -> PersonPage {
    PersonPage::in_section("Applications and enquiries")
        .titled("Answer the offer")
        .about(&[("application_id", "application_id"), ("expected_version", "version")])
        .fields(&["answer"])
}
