//! The forms of pages for people who have signed in: a form is accepted only from the browser that its page was
//! made for.

use crate::{
    App,
    oauth::{
        browser::{Cookies, stop_page},
        client::{Form, form},
    },
};
use axum::{
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use portolan_vocabulary::Failure;

/// Returns the text that proves that a form is from a page of this browser, with the cookie to which it
/// belongs.
pub(super) fn form_token<'a>(app: &App, cookies: Cookies<'a>) -> (String, Cookies<'a>) {
    let identity = &app.host.identity;
    match cookies.browser() {
        Some(browser) => (identity.form_token(&browser), cookies),
        None => {
            let browser = identity.new_browser_cookie();
            (identity.form_token(&browser), cookies.set_browser(browser))
        }
    }
}

/// Returns a submitted form, if it is from a page of this browser.
pub(super) fn own_form(
    app: &App,
    cookies: &Cookies<'_>,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Option<Form> {
    let form = form(headers, body).ok()?;
    let is_own = app.host.identity.is_form_token(form.get("form_token")?, &cookies.browser()?);
    is_own.then_some(form)
}

/// Returns the page for a failure.
pub(super) fn failed(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.kind.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    stop_page(status, "This did not work", &failure.message)
}
