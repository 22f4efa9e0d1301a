//! The table of the decisions that the forms of the console can make. Each is a request to one of the operator's
//! routes.

use axum::http::Method;

/// A decision that a form can make.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) name: &'static str,
    pub(super) method: Method,
    /// The path of the route, as the table of routes has it.
    pub(super) route: &'static str,
    /// Parts of the path that are not fields of the form.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    /// The fields of the form that are the query and the input of the request.
    pub(super) query: &'static [&'static str],
    pub(super) input: &'static [Field],
    /// The page to which the browser returns, with fields in place of its parts.
    pub(super) back: &'static str,
    /// The page's message once it is done.
    pub(super) done: &'static str,
}

/// A field of an input. Empty ones are left out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Text(&'static str),
    Number(&'static str),
    /// The whole input, as JSON.
    Whole(&'static str),
}
use Field::{Number, Text, Whole};

pub(super) const ACTION: &str = "/capabilities/{id}/{action}";
const REPORTS: &str = "/console/reports";
const INCIDENTS: &str = "/console/incidents";
/// The query of the routes of a document.
const DOCUMENT: [&str; 4] = ["capability", "collection", "id", "test_mode"];
/// The input of a decision with its grounds.
const GROUNDS: [Field; 8] = [
    Text("report_id"),
    Text("outcome"),
    Text("explanation"),
    Text("measure"),
    Text("ground"),
    Text("basis"),
    Number("days"),
    Number("expected_version"),
];

/// The input of the suspension of a person whom nobody has reported.
const SUSPENSION: [Field; 6] = [
    Text("owner_id"),
    Text("reason"),
    Text("explanation"),
    Text("ground"),
    Text("basis"),
    Number("days"),
];

pub(super) static DECISIONS: [Decision; 22] = [
    Decision {
        name: "approve",
        method: Method::POST,
        route: "/catalog/{id}/approve",
        fixed: &[],
        query: &["digest"],
        input: &[],
        back: "/console/catalog",
        done: "The component is approved.",
    },
    Decision {
        name: "adopt",
        method: Method::POST,
        route: "/catalog/{id}/adopt",
        fixed: &[],
        query: &["digest"],
        input: &[],
        back: "/console/catalog",
        done: "The publisher has taken over the capability and its data.",
    },
    Decision {
        name: "rollback",
        method: Method::POST,
        route: "/catalog/{id}/rollback",
        fixed: &[],
        query: &["to"],
        input: &[],
        back: "/console/catalog/{id}",
        done: "The chosen version is now the desired one; below is what serves on this node.",
    },
    Decision {
        name: "share_release",
        method: Method::POST,
        route: "/catalog/{id}/release/share",
        fixed: &[],
        query: &["share"],
        input: &[],
        back: "/console/catalog/{id}",
        done: "The share of callers is changed.",
    },
    Decision {
        name: "promote_release",
        method: Method::POST,
        route: "/catalog/{id}/release/promote",
        fixed: &[],
        query: &[],
        input: &[],
        back: "/console/catalog/{id}",
        done: "All callers get the version now.",
    },
    Decision {
        name: "abort_release",
        method: Method::POST,
        route: "/catalog/{id}/release/abort",
        fixed: &[],
        query: &["reason"],
        input: &[],
        back: "/console/catalog/{id}",
        done: "All callers get the served version again.",
    },
    Decision {
        name: "drop_timers",
        method: Method::POST,
        route: "/timers/{id}/drop",
        fixed: &[],
        query: &[],
        input: &[],
        back: "/console/events",
        done: "The pending timers of the capability are removed.",
    },
    Decision {
        name: "replay",
        method: Method::POST,
        route: "/dead-letters/replay",
        fixed: &[],
        query: &["ids"],
        input: &[],
        back: "/console/events",
        done: "The events will be delivered again.",
    },
    Decision {
        name: "drop_dead_letter",
        method: Method::POST,
        route: "/dead-letters/drop",
        fixed: &[],
        query: &["ids"],
        input: &[],
        back: "/console/events",
        done: "The dead letter is removed.",
    },
    Decision {
        name: "drop_document",
        method: Method::DELETE,
        route: "/documents/document",
        fixed: &[],
        query: &DOCUMENT,
        input: &[],
        back: "/console/events",
        done: "The document is deleted.",
    },
    Decision {
        name: "triage",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "triage")],
        query: &["test_mode"],
        input: &[Text("report_id"), Text("note"), Number("expected_version")],
        back: REPORTS,
        done: "The review of the report has begun.",
    },
    Decision {
        name: "decide",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "decide")],
        query: &["test_mode"],
        input: &GROUNDS,
        back: REPORTS,
        done: "The report is decided.",
    },
    Decision {
        name: "decide_appeal",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "decide_appeal")],
        query: &["test_mode"],
        input: &GROUNDS,
        back: REPORTS,
        done: "The appeal is decided.",
    },
    Decision {
        name: "suspend",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "suspend")],
        query: &["test_mode"],
        input: &SUSPENSION,
        back: REPORTS,
        done: "The person is suspended.",
    },
    Decision {
        name: "reinstate",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "reinstate")],
        query: &["test_mode"],
        input: &[Text("report_id")],
        back: REPORTS,
        done: "The suspension has ended.",
    },
    Decision {
        name: "repair_document",
        method: Method::PUT,
        route: "/documents/document",
        fixed: &[],
        query: &DOCUMENT,
        input: &[Whole("document")],
        back: "/console/events",
        done: "The document is replaced, and serves again.",
    },
    Decision {
        name: "hide_file",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "hide")],
        query: &["test_mode"],
        input: &[Text("media_id")],
        back: REPORTS,
        done: "The file is hidden from everybody but its person.",
    },
    Decision {
        name: "reinstate_file",
        method: Method::POST,
        route: ACTION,
        fixed: &[("action", "reinstate")],
        query: &["test_mode"],
        input: &[Text("media_id")],
        back: REPORTS,
        done: "The file is shown again.",
    },
    Decision {
        name: "open_incident",
        method: Method::POST,
        route: "/incidents",
        fixed: &[],
        query: &[],
        input: &[Text("title"), Text("text"), Text("state"), Text("starts_at"), Text("ends_at")],
        back: INCIDENTS,
        done: "The incident is on the status page.",
    },
    Decision {
        name: "update_incident",
        method: Method::POST,
        route: "/incidents/{id}/update",
        fixed: &[],
        query: &[],
        input: &[Text("state"), Text("text")],
        back: INCIDENTS,
        done: "The update is on the status page.",
    },
    Decision {
        name: "resolve_incident",
        method: Method::POST,
        route: "/incidents/{id}/resolve",
        fixed: &[],
        query: &[],
        input: &[Text("text")],
        back: INCIDENTS,
        done: "The incident has ended.",
    },
    Decision {
        name: "revoke_agent",
        method: Method::DELETE,
        route: "/agents/{agent_id}",
        fixed: &[],
        query: &[],
        input: &[],
        back: "/console/callers",
        done: "The agent is revoked.",
    },
];

/// Returns the decision with this name.
pub(super) fn find(name: &str) -> Option<&'static Decision> {
    DECISIONS.iter().find(|decision| decision.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator_routes::operator_routes;

    #[test]
    fn each_decision_is_a_route_that_leaves_a_row() {
        for decision in &DECISIONS {
            let route = operator_routes()
                .into_iter()
                .find(|route| route.method == decision.method && route.path == decision.route);
            let route = route.unwrap_or_else(|| panic!("{decision:?}"));
            assert!(route.decision.is_some(), "{decision:?}");
        }
    }
}
