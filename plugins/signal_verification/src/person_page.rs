//! The parts and forms of this capability on a person's own page and on the pages of handoffs.

use portolan_sdk::PersonPage;

const SECTION: &str = "What you say about signals";

pub(crate) fn list_mine() -> PersonPage {
    PersonPage::in_section(SECTION)
        .things(&["items"])
        .columns(&["about", "state", "kind", "url", "note", "decision", "signal_id", "changed_at"])
        .glance()
}

pub(crate) fn submit_evidence() -> PersonPage {
    PersonPage::in_section(SECTION)
        .titled("Submit the evidence")
        .fields(&["url", "kind", "note"])
        .note("A reviewer looks at it. Once it is accepted, everybody reads the address and the note, and nobody learns that they are from you.")
        .drafted_as("evidence_id")
}
