//! The decisions that the forms of the console can make. Each is a request to one of the operator's routes.

use super::{
    failure,
    state::Console,
    visitor::{ConsoleForm, Visitor},
};
use crate::oauth::see_other;
use axum::{
    extract::{Path, State},
    http::Method,
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use url::Url;

/// A decision that a form can make.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) name: &'static str,
    pub(super) method: Method,
    /// The path of the route, as the table of routes has it.
    pub(super) route: &'static str,
    /// Parts of the path that are not fields of the form.
    fixed: &'static [(&'static str, &'static str)],
    /// The fields of the form that are the query and the input of the request.
    query: &'static [&'static str],
    input: &'static [Field],
    /// The page to which the browser returns, with fields in place of its parts.
    back: &'static str,
    /// The page's message once it is done.
    pub(super) done: &'static str,
}

/// A field of an input. Empty ones are left out.
#[derive(Debug, Clone, Copy)]
enum Field {
    Text(&'static str),
    Number(&'static str),
}
use Field::{Number, Text};

const ACTION: &str = "/capabilities/{id}/{action}";
const REPORTS: &str = "/console/reports";
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

pub(super) static DECISIONS: [Decision; 15] = [
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
        query: &["capability", "collection", "id", "test_mode"],
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
];

/// Returns the decision with this name.
pub(super) fn find(name: &str) -> Option<&'static Decision> {
    DECISIONS.iter().find(|decision| decision.name == name)
}

pub(super) async fn decide(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Path(name): Path<String>,
    form: ConsoleForm,
) -> Response {
    let Some(decision) = find(&name) else { return failure::no_such_page().await };
    match send(&console, &visitor, decision, &form).await {
        Ok(back) => see_other(&back),
        Err(refused) => failure::page_of(&refused),
    }
}

/// Sends the request of a decision, and returns the address of the page to return to.
async fn send(
    console: &Console,
    visitor: &Visitor,
    decision: &Decision,
    form: &ConsoleForm,
) -> Result<String, Failure> {
    let query = decision.query.iter().map(|name| (*name, form.field(name)));
    let path = address(decision.route, decision.fixed, query, form)?;
    let input = (!decision.input.is_empty()).then(|| input(decision.input, form)).transpose()?;
    let method = decision.method.clone();
    console.api.send(&visitor.operator, method, &path, input).await?;
    address(decision.back, &[], [("done", decision.name)].into_iter(), form)
}

/// Returns a path whose parts in braces are fields of a form, with the query of all values that are not empty.
fn address<'a>(
    pattern: &str,
    fixed: &[(&str, &str)],
    query: impl Iterator<Item = (&'a str, &'a str)>,
    form: &ConsoleForm,
) -> Result<String, Failure> {
    let missing = || Failure::new(ErrorCode::ValidationFailed);
    let mut url = Url::parse("http://console").map_err(|_| missing())?;
    let mut segments = url.path_segments_mut().map_err(|()| missing())?;
    segments.clear();
    for part in pattern.split('/').skip(1) {
        let Some(name) = part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            segments.push(part);
            continue;
        };
        let fixed = fixed.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value = fixed.unwrap_or_else(|| form.field(name));
        if value.is_empty() {
            return Err(missing().message(format!("The form has no {name}.")));
        }
        segments.push(value);
    }
    drop(segments);
    let mut query = query.filter(|(_, value)| !value.is_empty()).peekable();
    if query.peek().is_some() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url.as_str().trim_start_matches("http://console").to_owned())
}

fn input(fields: &[Field], form: &ConsoleForm) -> Result<Value, Failure> {
    let mut input = Map::new();
    for field in fields {
        let (Text(name) | Number(name)) = *field;
        let text = form.field(name);
        if text.is_empty() {
            continue;
        }
        let value =
            match field {
                Text(_) => json!(text),
                Number(_) => {
                    let number: Result<u64, _> = text.parse();
                    let message = format!("{name} must be a whole number.");
                    json!(number.map_err(|_| {
                        Failure::new(ErrorCode::ValidationFailed).message(message)
                    })?)
                }
            };
        input.insert(name.to_owned(), value);
    }
    Ok(Value::Object(input))
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

    #[test]
    fn a_field_is_one_part_of_a_path() {
        let form = ConsoleForm::of(&[("id", "a/b?c"), ("to", "1.0&x=1"), ("days", "x")]);
        let path = |fixed: &[(&str, &str)]| {
            let query = [("to", form.field("to")), ("by", "")].into_iter();
            address(ACTION, fixed, query, &form).map_err(|failure| failure.message)
        };
        let expected = "/capabilities/a%2Fb%3Fc/decide?to=1.0%26x%3D1";
        assert_eq!(path(&[("action", "decide")]).unwrap(), expected);
        assert_eq!(path(&[]).unwrap_err(), "The form has no action.");
        assert!(input(&[Number("days")], &form).is_err());
        assert_eq!(input(&[Number("none"), Text("id")], &form).unwrap(), json!({ "id": "a/b?c" }));
    }
}
