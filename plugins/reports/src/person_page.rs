//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list_mine() -> [PersonPage; 2] {
    [
        PersonPage::in_section("Reports that you made")
            .input("role", "reporter")
            .things(&["items"])
            .columns(&[
                "subject",
                "state",
                "reason",
                "subject_id",
                "changed_at",
                "decision.explanation",
                "appeal_until",
            ])
            .glance(),
        PersonPage::in_section("Measures against you")
            .input("role", "affected")
            .things(&["items"])
            .columns(&[
                "subject",
                "state",
                "reason",
                "subject_id",
                "changed_at",
                "decision.explanation",
                "appeal_until",
            ])
            .glance(),
    ]
}

pub(crate) fn create() -> PersonPage {
    PersonPage::in_section("Reports that you made")
        .titled("Send the report")
        .fields(&["text"])
        .note("Only the operator of this host reads what you write. You are told what was decided, and you can appeal.")
        .drafted_as("report_id")
}

pub(crate) fn appeal() -> [PersonPage; 2] {
    let fields = &[("report_id", "report_id"), ("expected_version", "version")];
    let sections = ["Reports that you made", "Measures against you"];
    sections.map(|section| {
        PersonPage::in_section(section).titled("Appeal").about(fields).fields(&["text"])
    })
}
