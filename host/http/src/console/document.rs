//! The page of one document in quarantine: it is corrected as JSON, checked, and then replaced.

use super::{
    figures::quoted,
    frame::{Done, Frame, shown, with_query},
    state::Console,
    visitor::{ConsoleForm, Visitor},
};
use askama::Template;
use axum::{
    extract::{Query, State},
    http::Method,
    response::Response,
};
use portolan_vocabulary::Failure;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The route of one document.
const DOCUMENT: &str = "/documents/document";

/// The query: which document is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    capability: String,
    collection: String,
    id: String,
    test_mode: String,
}

impl Asked {
    /// Returns the path of the route of the document. `dry_run` is empty or `true`.
    fn route(&self, dry_run: &str) -> String {
        let parameters = [
            ("capability", self.capability.as_str()),
            ("collection", &self.collection),
            ("id", &self.id),
            ("test_mode", &self.test_mode),
            ("dry_run", dry_run),
        ];
        with_query(DOCUMENT, &parameters)
    }
}

/// The answer to `GET /documents/document`.
#[derive(Debug, Deserialize)]
struct Quarantined {
    reason: String,
    version: u32,
    document: Option<Value>,
}

#[derive(Template)]
#[template(path = "console/document.html")]
struct DocumentPage {
    frame: Frame,
    asked: Asked,
    reason: String,
    /// The version of the form in which the document is stored.
    version: u32,
    /// The document as JSON: as it is stored, or as the operator has corrected it.
    text: String,
    /// Why the corrected document cannot replace the stored one.
    problem: Option<String>,
    /// Whether the corrected document was checked and can replace the stored one.
    is_checked: bool,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(document_page(&console, &visitor, asked, None).await)
}

/// Checks the corrected document of a form, and shows it with the result.
pub(super) async fn check(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    form: ConsoleForm,
) -> Response {
    let field = |name: &str| form.field(name).to_owned();
    let asked = Asked {
        capability: field("capability"),
        collection: field("collection"),
        id: field("id"),
        test_mode: field("test_mode"),
    };
    shown(document_page(&console, &visitor, asked, Some(field("document"))).await)
}

async fn document_page(
    console: &Console,
    visitor: &Visitor,
    asked: Asked,
    corrected: Option<String>,
) -> Result<DocumentPage, Failure> {
    let found: Quarantined = console.api.get(&visitor.operator, &asked.route("")).await?;
    let problem = match &corrected {
        Some(text) => problem_of(console, visitor, &asked, text).await,
        None => None,
    };
    let is_checked = corrected.is_some() && problem.is_none();
    let stored = || found.document.map(|document| format!("{document:#}")).unwrap_or_default();
    Ok(DocumentPage {
        frame: Frame::new(console, visitor, "/console/events", &Done::default()),
        asked,
        reason: found.reason,
        version: found.version,
        text: corrected.unwrap_or_else(stored),
        problem,
        is_checked,
    })
}

/// Returns why a corrected document cannot replace the stored one, if that is so.
async fn problem_of(
    console: &Console,
    visitor: &Visitor,
    asked: &Asked,
    text: &str,
) -> Option<String> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => return Some(format!("It is not JSON: {error}.")),
    };
    let path = asked.route("true");
    let answer = console.api.send(&visitor.operator, Method::PUT, &path, Some(document)).await;
    answer.err().map(|refused| refused.message.into_owned())
}
