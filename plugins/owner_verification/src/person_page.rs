//! The parts and forms of this capability on a person's own page and on the pages of handoffs.

use portolan_sdk::PersonPage;

const SECTION: &str = "Companies that you speak for";

pub(crate) fn status() -> PersonPage {
    PersonPage::in_section(SECTION)
        .things(&["items"])
        .columns(&[
            "domain",
            "state",
            "method",
            "challenge.place",
            "challenge.text",
            "challenge.expires_at",
            "checked_at",
            "reason",
        ])
        .glance()
}

pub(crate) fn start() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Get the text")
        .fields(&["method"])
        .note("You get a text, and publish it under the company's domain. Once it is found there, you act for the company here: what people send to it reaches you.")
        .drafted_as("verification_id")
}

pub(crate) fn check() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Look for the text now")
        .about(&[("verification_id", "verification_id"), ("expected_version", "version")])
}

pub(crate) fn revoke() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Stop speaking for it")
        .about(&[("verification_id", "verification_id"), ("expected_version", "version")])
        .confirm("I no longer speak for this company.")
}
