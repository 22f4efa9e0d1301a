//! The parts and forms of this capability on a person's own page. Nothing is counted on the first page, so
//! that nobody feels urged to answer.

use portolan_sdk::PersonPage;

const REQUESTED: &str = "Introductions that you asked for";
const TO_MAKE: &str = "Introductions that you are asked to make";
const TO_YOU: &str = "People who would like to meet you";

const THING: &[(&str, &str)] = &[("intro_id", "intro_id"), ("expected_version", "version")];

pub(crate) fn list() -> [PersonPage; 3] {
    [
        PersonPage::in_section(REQUESTED).input("role", "requester").things(&["items"]).columns(&[
            "target.display_name",
            "state",
            "introducer.display_name",
            "reason",
            "target.owner_id",
            "expires_at",
        ]),
        PersonPage::in_section(TO_MAKE).input("role", "introducer").things(&["items"]).columns(&[
            "requester.display_name",
            "state",
            "target.display_name",
            "reason",
            "requester.owner_id",
            "target.owner_id",
            "expires_at",
        ]),
        PersonPage::in_section(TO_YOU).input("role", "target").things(&["items"]).columns(&[
            "requester.display_name",
            "state",
            "introducer.display_name",
            "reason",
            "note",
            "requester.owner_id",
            "expires_at",
        ]),
    ]
}

pub(crate) fn request() -> PersonPage {
    PersonPage::in_section(REQUESTED).titled("Ask for an introduction").fields(&[
        "introducer_id",
        "target_id",
        "reason",
    ])
}

pub(crate) fn withdraw() -> PersonPage {
    PersonPage::in_section(REQUESTED)
        .titled("Withdraw")
        .about(THING)
        .confirm("Withdraw this request. Its credit is spent.")
}

pub(crate) fn respond() -> [PersonPage; 2] {
    [
        PersonPage::in_section(TO_MAKE).titled("Answer").about(THING).fields(&["decision", "note"]),
        PersonPage::in_section(TO_YOU).titled("Answer").about(THING).fields(&["decision"]),
    ]
}

pub(crate) fn exchange_contact() -> [PersonPage; 2] {
    [REQUESTED, TO_YOU].map(|section| {
        PersonPage::in_section(section)
            .titled("Contact data in the conversation")
            .about(THING)
            .fields(&["allow"])
    })
}
