//! The pages of addresses that are not valid any more, with what helps.

use super::resolve::{EXPIRED, Ids, USED};
use crate::page::{FormTargets, page};
use askama::Template;
use axum::{http::StatusCode, response::Response};
use portolan_vocabulary::Failure;
use serde_json::Value;

/// The mark in the refusal of a used address that the person has used it themselves.
const BY_YOU: &str = "you";

#[derive(Template)]
#[template(path = "person/handoff_stopped.html")]
struct StoppedPage<'a> {
    title: &'a str,
    text: &'a str,
    /// Whether it was the person who has taken it up.
    is_own: bool,
    /// The address that begins the same handoff again.
    again: Option<String>,
}

/// Returns the page for an address that is not valid.
pub(super) fn stop(failure: &Failure) -> Response {
    let by = failure.conflict.as_deref().and_then(|conflict| conflict.get("redeemed_by"));
    let is_own = by.and_then(Value::as_str) == Some(BY_YOU);
    let (title, text) = match (&*failure.error_code, is_own) {
        (USED, true) => (
            "This is finished",
            "You have sent it from this page, or one of your agents has taken it up. An address works once.",
        ),
        (USED, false) => (
            "This address was used",
            "Somebody has taken it up, or one of their agents has. An address works once.",
        ),
        (EXPIRED, _) => {
            ("This address has expired", "Nothing was sent. An address works for 15 minutes.")
        }
        _ => ("This address is not valid", &*failure.message),
    };
    let again =
        Ids::of(failure).map(|ids| format!("/map/handoffs/{}/{}", ids.handoff_id, ids.record_id));
    let status = StatusCode::from_u16(failure.kind.http_status());
    let shown = StoppedPage { title, text, is_own, again };
    page(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &shown, FormTargets::ThisHost)
}
