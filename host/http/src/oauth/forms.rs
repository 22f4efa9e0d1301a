//! The common checks of the pages for people: each request is counted against the rate of its address, and a
//! form is accepted only from the browser that its page was made for.

use crate::{
    App,
    address::ClientAddress,
    oauth::{
        browser::{Cookies, family, stop_page},
        client::{Form, form},
    },
};
use axum::{
    RequestPartsExt as _,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{StatusCode, request::Parts},
    response::Response,
};
use axum_extra::extract::CookieJar;
use portolan_vocabulary::Failure;
use std::{net::IpAddr, sync::Arc};

/// A request for a page, within the rate of its address.
pub(crate) struct PageRequest {
    pub(super) cookies: Cookies,
    pub(super) address: Option<IpAddr>,
    /// The family of the browser, if it is known.
    pub(super) browser: Option<&'static str>,
}

impl FromRequestParts<Arc<App>> for PageRequest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let Ok(ClientAddress(address)) = parts.extract_with_state(app).await;
        app.host.rates.count_page_view(address).map_err(|failure| failed(&failure))?;
        let cookies = Cookies::new(CookieJar::from_headers(&parts.headers), app);
        Ok(Self { cookies, address, browser: family(&parts.headers) })
    }
}

/// A form that a page of this browser has submitted, within the rate of its address.
pub(crate) struct PageForm {
    pub(super) request: PageRequest,
    fields: Form,
}

impl FromRequest<Arc<App>> for PageForm {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let request: PageRequest = parts.extract_with_state(app).await?;
        let headers = parts.headers.clone();
        let body = Bytes::from_request(Request::from_parts(parts, body), app).await;
        let fields = form(&headers, body).map_err(|_| foreign_form())?;
        let token = fields.get("form_token").zip(request.cookies.browser());
        match token.is_some_and(|(token, browser)| app.host.identity.is_form_token(token, &browser))
        {
            true => Ok(Self { request, fields }),
            false => Err(foreign_form()),
        }
    }
}

impl PageForm {
    /// Returns the value of a field, or an empty text.
    pub(super) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// Returns the text that proves that a form is from a page of this browser, with the cookie to which it
/// belongs.
pub(super) fn form_token(app: &App, cookies: Cookies) -> (String, Cookies) {
    let identity = &app.host.identity;
    match cookies.browser() {
        Some(browser) => (identity.form_token(&browser), cookies),
        None => {
            let browser = identity.new_browser_cookie();
            (identity.form_token(&browser), cookies.set_browser(browser))
        }
    }
}

/// Returns the page for a form that no page of this browser has.
pub(super) fn foreign_form() -> Response {
    let text = "It was opened in another browser. Go back, reload the page, and try again.";
    stop_page(StatusCode::BAD_REQUEST, "This page has expired", text)
}

/// Returns the page for a failure.
pub(super) fn failed(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.kind.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    stop_page(status, "This did not work", &failure.message)
}
