//! A failure as a page of the console.

use crate::page::{FormTargets, page};
use askama::Template;
use axum::{
    http::{StatusCode, header::RETRY_AFTER},
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::Value;

#[derive(Template)]
#[template(path = "console/failure.html")]
struct FailurePage<'a> {
    message: &'a str,
    code: &'a str,
    /// The fix, if the failure has one.
    fix: Option<&'a str>,
    details: Vec<String>,
}

/// The maximum number of details that are shown.
const MAX_DETAILS: usize = 20;

/// Returns the page of a failure.
pub(super) fn page_of(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.kind.http_status());
    let of_conflict = |name: &str| failure.conflict.as_ref()?.get(name);
    let list = ["problems", "errors"].into_iter().find_map(|name| of_conflict(name)?.as_array());
    let shown = FailurePage {
        message: &failure.message,
        code: &failure.error_code,
        fix: of_conflict("fix").and_then(Value::as_str),
        details: list.into_iter().flatten().take(MAX_DETAILS).map(detail).collect(),
    };
    let mut response = page(status.unwrap_or_default(), &shown, FormTargets::ThisHost);
    let seconds = failure.next.as_ref().and_then(|next| next.get("after_s")?.as_u64());
    if let Some(seconds) = seconds {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns one line for a problem of a component, or for a field that is not valid.
fn detail(detail: &Value) -> String {
    let parts = ["at", "pointer", "problem", "rule", "fix", "expected"];
    let texts = parts.iter().filter_map(|name| detail.get(*name)?.as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { detail.to_string() } else { texts.join(": ") }
}

/// Returns the page for a form that no page of this browser has, or no longer.
pub(super) fn expired() -> Response {
    let message = "This form is not from a page of this browser, or its session has ended. Load the page again.";
    let mut response = page_of(&Failure::new(ErrorCode::ValidationFailed).message(message));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

pub(super) async fn no_such_page() -> Response {
    page_of(&Failure::new(ErrorCode::NotFound).message("The console has no such page."))
}

pub(super) async fn no_such_method() -> Response {
    page_of(&Failure::new(ErrorCode::MethodNotAllowed))
}
