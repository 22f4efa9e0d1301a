//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn search() -> PersonPage {
    PersonPage::in_section("Listings of other people")
        .titled("Search")
        .fields(&["q"])
        .things(&["items"])
        .columns(&["title", "category_label", "excerpt", "compensation"])
        .drafted()
}

pub(crate) fn list_mine() -> PersonPage {
    PersonPage::in_section("Your listings")
        .things(&["items"])
        .columns(&["title", "state", "category_label", "valid_through", "created_at"])
        .glance()
}

pub(crate) fn publish() -> PersonPage {
    PersonPage::in_section("Your listings")
        .titled("Publish")
        .about(&[("listing_id", "listing_id"), ("expected_version", "version")])
}

pub(crate) fn pause() -> PersonPage {
    PersonPage::in_section("Your listings")
        .titled("Pause")
        .about(&[("listing_id", "listing_id"), ("expected_version", "version")])
}

pub(crate) fn resume() -> PersonPage {
    PersonPage::in_section("Your listings")
        .titled("Resume")
        .about(&[("listing_id", "listing_id"), ("expected_version", "version")])
}

pub(crate) fn renew() -> PersonPage {
    PersonPage::in_section("Your listings")
        .titled("Renew")
        .about(&[("listing_id", "listing_id"), ("expected_version", "version")])
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section("Your listings")
        .titled("Withdraw")
        .about(&[("listing_id", "listing_id"), ("expected_version", "version")])
        .confirm("Withdraw this listing for good.")
}
