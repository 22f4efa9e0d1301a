//! `GET /docs/errors`: the error codes that mean the same in every capability, and what to do about each.

use super::{advice::advice, marked::Marked};
use crate::page::public_page;
use askama::Template;
use axum::{http::HeaderMap, response::Response};
use portolan_vocabulary::ErrorCode;

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage {
    errors: Vec<CommonError>,
}

struct CommonError {
    code: &'static str,
    status: u16,
    is_retryable: bool,
    message: &'static str,
    advice: Marked<'static>,
}

pub(crate) async fn show(headers: HeaderMap) -> Response {
    let row = |code: &ErrorCode| {
        let row = code.row();
        CommonError {
            code: row.name,
            status: row.kind.http_status(),
            is_retryable: row.retryable,
            message: row.message,
            advice: Marked::of(advice(*code)),
        }
    };
    public_page(&headers, &ErrorsPage { errors: ErrorCode::ALL.iter().map(row).collect() })
}
