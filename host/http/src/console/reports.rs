//! The page of the reports that wait for the operator. The capability that has the role for it keeps them and
//! records the decisions.

use super::{
    api::parsed,
    catalog::Catalog,
    figures::{moment, quoted},
    frame::{Done, Frame, shown, with_query},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    http::Method,
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure, Role, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const PAGE: &str = "/console/reports";
/// The route of internal actions.
const ACTION: &str = "/capabilities/{id}/{action}";
/// The number of reports of a page.
const LIMIT: u64 = 20;
/// The outcomes, measures and grounds of a decision.
const OUTCOMES: [(&str, &str); 2] =
    [("dismissed", "Dismissed: no measure"), ("actioned", "Actioned: with a measure")];
const RULINGS: [(&str, &str); 2] =
    [("upheld", "Upheld: the decision stands"), ("overturned", "Overturned")];
const MEASURES: [&str; 5] = ["corrected", "removed", "restricted", "suspended", "warned"];
const GROUNDS: [&str; 3] = ["law", "rules", "accuracy"];
/// The reasons for which a person can be suspended whom nobody has reported.
const REASONS: [&str; 11] = [
    "abuse",
    "scam",
    "discrimination",
    "impersonation",
    "underage",
    "spam",
    "steers_agents",
    "personal_data",
    "rights",
    "illegal",
    "other",
];

#[derive(Debug, Deserialize)]
struct Answer {
    result: Waiting,
}

#[derive(Debug, Deserialize)]
struct Waiting {
    items: Vec<Case>,
    next_cursor: Option<String>,
}

/// A report as the capability shows it to operators.
#[derive(Debug, Deserialize)]
struct Case {
    report_id: String,
    owner_id: String,
    subject_id: String,
    subject: String,
    subject_owner_id: Option<String>,
    said: Option<String>,
    about_it: u64,
    reason: String,
    text: Option<String>,
    state: String,
    version: u64,
    note: Option<String>,
    decision: Option<CaseDecision>,
    appeal: Option<Appeal>,
    created_at: Timestamp,
}

impl Case {
    /// Returns whether it is about a picture or a document, which can be hidden.
    fn is_file(&self) -> bool {
        self.subject_id.starts_with("med_")
    }

    /// Returns whether the report has led to the suspension of a person, which can be ended before its time.
    fn is_suspension(&self) -> bool {
        let measure = self.decision.as_ref().and_then(|decision| decision.measure.as_deref());
        measure == Some("suspended") && self.subject == "owner" && self.state != "overturned"
    }
}

#[derive(Debug, Deserialize)]
struct CaseDecision {
    measure: Option<String>,
    explanation: String,
    until: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct Appeal {
    by: String,
    text: Option<String>,
}

/// The query: the state of the reports, the mode, and where the page begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    #[serde(flatten)]
    done: Done,
    state: String,
    test_mode: String,
    cursor: String,
}

impl Asked {
    fn is_test(&self) -> bool {
        self.test_mode == "true"
    }

    /// Returns the state whose reports are shown; `None` for all that wait.
    fn state(&self) -> Option<&str> {
        let states = ["actioned", "dismissed", "upheld", "overturned"];
        states.into_iter().find(|state| *state == self.state)
    }
}

#[derive(Template)]
#[template(path = "console/reports.html")]
struct ReportsPage {
    frame: Frame,
    /// The capability that has the role; `None` with the reason why none has.
    id: Option<String>,
    vacant: String,
    cases: Vec<Case>,
    /// The state whose reports are shown; empty for all that wait.
    state: String,
    is_test: bool,
    /// The capabilities that keep files of people.
    keepers: Vec<String>,
    /// The address of the next page.
    next: Option<String>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(reports_page(&console, &visitor, &asked).await)
}

async fn reports_page(
    console: &Console,
    visitor: &Visitor,
    asked: &Asked,
) -> Result<ReportsPage, Failure> {
    let (api, operator) = (&console.api, &visitor.operator);
    if !api.may(operator, &Method::POST, ACTION) {
        let message = "Reports are for operators with the role operate.";
        return Err(Failure::new(ErrorCode::NotPermitted).message(message));
    }
    let catalog: Catalog = api.get(operator, "/catalog").await?;
    let keepers = catalog.loaded.iter().filter(|loaded| loaded.keeps_files());
    let keepers = keepers.map(|loaded| loaded.id.clone()).collect();
    let mut roles = catalog.roles.into_iter();
    let role = roles.find(|status| status.role == Role::ReportReview.name());
    let (id, vacant) = match role {
        Some(status) if status.vacant.is_none() => (status.id, String::new()),
        Some(status) => (None, status.vacant.unwrap_or_default()),
        None => (None, String::new()),
    };
    let waiting = match &id {
        Some(id) => waiting(console, visitor, id, asked).await?,
        None => Waiting { items: Vec::new(), next_cursor: None },
    };
    let next = waiting.next_cursor.map(|cursor| {
        let parameters =
            [("state", asked.state.as_str()), ("test_mode", &asked.test_mode), ("cursor", &cursor)];
        with_query(PAGE, &parameters)
    });
    Ok(ReportsPage {
        frame: Frame::new(console, visitor, PAGE, &asked.done),
        id,
        vacant,
        cases: waiting.items,
        state: asked.state().unwrap_or_default().to_owned(),
        is_test: asked.is_test(),
        keepers,
        next,
    })
}

/// Asks the capability for the reports of a page.
async fn waiting(
    console: &Console,
    visitor: &Visitor,
    id: &str,
    asked: &Asked,
) -> Result<Waiting, Failure> {
    let mode = if asked.is_test() { "true" } else { "" };
    let path = with_query(&format!("/capabilities/{id}/waiting"), &[("test_mode", mode)]);
    let mut input = json!({ "limit": LIMIT });
    if let Some(fields) = input.as_object_mut() {
        fields.extend(asked.state().map(|state| ("state".to_owned(), json!([state]))));
        let cursor = (!asked.cursor.is_empty()).then(|| json!(asked.cursor));
        fields.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
    }
    let answer: Value =
        console.api.send(&visitor.operator, Method::POST, &path, Some(input)).await?;
    let Answer { result } = parsed(answer)?;
    Ok(result)
}
