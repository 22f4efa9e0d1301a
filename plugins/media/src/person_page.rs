//! The lists and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

const FILES: &str = "Pictures and documents";

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section(FILES)
        .things(&["items"])
        .columns(&["title", "kind", "state", "reason", "visibility", "listing_id", "url"])
        .glance()
}

pub(crate) fn update() -> PersonPage {
    PersonPage::in_section(FILES)
        .titled("Change")
        .about(&[("media_id", "media_id"), ("expected_version", "version")])
        .fields(&["title", "visibility"])
}

pub(crate) fn delete() -> PersonPage {
    PersonPage::in_section(FILES)
        .titled("Delete")
        .about(&[("media_id", "media_id"), ("expected_version", "version")])
        .confirm("Delete this file for good.")
}
