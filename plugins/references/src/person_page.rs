//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

const TO_WRITE: &str = "People about whom you can write";
const RECEIVED: &str = "References about you";
const SENT: &str = "References that you wrote";
const VIEWERS: &str = "People who can read the references about you";

pub(crate) fn encounters() -> PersonPage {
    PersonPage::in_section(TO_WRITE).input("open_only", true).things(&["items"]).columns(&[
        "with.display_name",
        "kind",
        "claims",
        "text",
        "written_at",
        "closes_at",
        "with.owner_id",
    ])
}

pub(crate) fn write() -> PersonPage {
    PersonPage::in_section(TO_WRITE)
        .titled("Write a reference")
        .about(&[("encounter_id", "encounter_id"), ("expected_version", "version")])
        .fields(&["claims", "text"])
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section(TO_WRITE)
        .titled("Withdraw")
        .about(&[("encounter_id", "encounter_id"), ("expected_version", "version")])
        .confirm("Withdraw what I have written.")
}

pub(crate) fn list() -> [PersonPage; 2] {
    [
        PersonPage::in_section(RECEIVED).input("role", "received").things(&["items"]).columns(&[
            "author.display_name",
            "claims",
            "text",
            "reply.text",
            "state",
            "shown_at",
            "author.owner_id",
            "reference_id",
        ]),
        PersonPage::in_section(SENT).input("role", "sent").things(&["items"]).columns(&[
            "about.display_name",
            "claims",
            "text",
            "reply.text",
            "state",
            "shown_at",
            "about.owner_id",
        ]),
    ]
}

pub(crate) fn reply() -> PersonPage {
    PersonPage::in_section(RECEIVED)
        .titled("Reply")
        .about(&[("reference_id", "reference_id"), ("expected_version", "version")])
        .fields(&["reply"])
        .confirm("Show this reply to all who read the reference. It cannot be changed.")
}

pub(crate) fn shown_to() -> PersonPage {
    PersonPage::in_section(VIEWERS).things(&["items"]).columns(&[
        "display_name",
        "owner_id",
        "since",
    ])
}

pub(crate) fn show() -> PersonPage {
    PersonPage::in_section(VIEWERS)
        .titled("Show my references to a person")
        .fields(&["owner_id"])
        .confirm("Show all references about me to this person.")
}

pub(crate) fn hide() -> PersonPage {
    PersonPage::in_section(VIEWERS).titled("Hide my references").about(&[("owner_id", "owner_id")])
}
