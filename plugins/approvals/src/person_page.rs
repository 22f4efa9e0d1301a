//! The lists and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

const WAITING: &str = "Calls of your agents that wait for you";
const POLICY: &str = "What your agents may do alone";

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section(WAITING)
        .input("state", vec!["waiting"])
        .things(&["items"])
        .columns(&[
            "title",
            "agent_name",
            "capability",
            "action",
            "reason",
            "input",
            "also",
            "expires_at",
        ])
        .whole(&["input", "also"])
        .glance()
}

pub(crate) fn approve() -> PersonPage {
    PersonPage::in_section(WAITING)
        .titled("Approve")
        .about(&[("approval_id", "approval_id"), ("expected_version", "version")])
        .confirm("Make this call once, exactly as it is shown here.")
}

pub(crate) fn deny() -> PersonPage {
    PersonPage::in_section(WAITING)
        .titled("Deny")
        .about(&[("approval_id", "approval_id"), ("expected_version", "version")])
}

pub(crate) fn get_policy() -> PersonPage {
    PersonPage::in_section(POLICY).titled("Now").columns(&[
        "limited",
        "alone",
        "ask_first_contact",
        "max_amount",
        "currency",
        "from",
        "always_ask",
        "known",
    ])
}

pub(crate) fn set_policy() -> PersonPage {
    PersonPage::in_section(POLICY)
        .titled("Limit my agents")
        .about(&[])
        .fields(&[
            "alone",
            "ask_first_contact",
            "max_amount",
            "currency",
            "from",
            "to",
            "time_zone",
            "expires_after_hours",
        ])
        .note("What you tick in the list, your agents do without asking. Everything else waits here for you.")
}

pub(crate) fn set_counterpart() -> PersonPage {
    PersonPage::in_section(POLICY)
        .titled("A rule for one person or thing")
        .fields(&["counterpart_id", "rule"])
        .note("Conversations, connections and listings have ids of their own: a rule for a person is not one for a call that names only these. Give them a rule too.")
}

pub(crate) fn end_policy() -> PersonPage {
    PersonPage::in_section(POLICY)
        .titled("Let my agents do everything alone")
        .confirm("My agents ask me about nothing any more.")
}
