//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

const SECTION: &str = "Applications and enquiries";

pub(crate) fn apply() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Send the application")
        .fields(&[
            "profile.headline",
            "profile.summary",
            "profile.years_experience",
            "profile.location",
            "profile.available_from",
            "message",
        ])
        .note("Those who act for the company, and nobody else, read what you write here and the name of your profile. Write no phone number, e-mail address or other way to reach you: they invite you into a conversation here, and you both decide there whether to exchange them.")
        .drafted_as("application_id")
}

pub(crate) fn enquire() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Send the message")
        .fields(&["message"])
        .note("Those who act for the company, and nobody else, read your message and the name of your profile. Write no phone number, e-mail address or other way to reach you: they invite you into a conversation here, and you both decide there whether to exchange them.")
        .drafted_as("application_id")
}

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section(SECTION)
        .things(&["items"])
        .columns(&["title", "kind", "role", "state", "created_at", "expires_at"])
        .glance()
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Withdraw")
        .about(&[("application_id", "application_id"), ("expected_version", "version")])
        .confirm("Withdraw this application.")
}

pub(crate) fn answer() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Answer the offer")
        .about(&[("application_id", "application_id"), ("expected_version", "version")])
        .fields(&["answer"])
}
