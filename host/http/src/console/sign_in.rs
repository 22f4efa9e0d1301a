//! Signing in with an operator's token, and signing out.

use super::{
    failure,
    state::Console,
    visitor::{ConsoleForm, SIGN_IN, Visitor, cookie, cookie_of},
};
use crate::{
    oauth::see_other,
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header::ORIGIN},
    response::{IntoResponse as _, Response},
};
use axum_extra::extract::CookieJar;
use portolan_identity::IdentityError;
use portolan_vocabulary::{Digest, ErrorCode, Failure};
use std::sync::Arc;

const FIRST_PAGE: &str = "/console";

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage<'a> {
    form_token: &'a str,
    /// Why the last token was refused.
    problem: Option<&'a str>,
}

/// Leads a browser that opens the address to the console.
pub(super) async fn begin() -> Response {
    see_other(FIRST_PAGE)
}

/// Shows the form for the token, or the console if the browser has a session.
pub(super) async fn show(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let value = cookie_of(&headers).unwrap_or_default();
    match Visitor::of_cookie(&console, &value).await {
        Ok(Some(_)) => see_other(FIRST_PAGE),
        Ok(None) => form_page(&console, &headers, StatusCode::OK, None),
        Err(refused) => failure::page_of(&refused),
    }
}

/// Returns the page with the form. Its cookie is no session, and only proves that the form is from this browser.
fn form_page(
    console: &Console,
    headers: &HeaderMap,
    status: StatusCode,
    problem: Option<&str>,
) -> Response {
    let identity = &console.app.host.identity;
    let kept = cookie_of(headers).filter(|value| !value.is_empty());
    let value = kept.unwrap_or_else(|| identity.new_browser_cookie());
    let form_token = identity.form_token(&value);
    let shown = SignInPage { form_token: &form_token, problem };
    let jar = CookieJar::new().add(cookie(value, is_secure(headers)));
    (jar, page(status, &shown, FormTargets::ThisHost)).into_response()
}

/// Exchanges a token for a session, whose cookie was never known before.
pub(super) async fn submit(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    form: ConsoleForm,
) -> Response {
    let (app, token) = (&console.app, form.field("token"));
    let shared = app.operator.token.operator(token);
    let (problem, status) = match app
        .host
        .identity
        .authenticate_operator(token, shared, form.address, false)
        .await
    {
        Ok(_) => {
            let value = app.host.identity.new_browser_cookie();
            let digest = Digest::of(token.as_bytes());
            console.sessions.end(&form.cookie);
            console.sessions.begin(&value, digest, app.host.clock.now());
            let jar = CookieJar::new().add(cookie(value, is_secure(&headers)));
            return (jar, see_other(FIRST_PAGE)).into_response();
        }
        Err(IdentityError::TokenInvalid) => {
            ("This is no operator's token, or no longer one.".to_owned(), StatusCode::FORBIDDEN)
        }
        Err(IdentityError::SlowDown { after_s }) => {
            let message = format!(
                "Too many wrong tokens came from this address. Wait {after_s} seconds before the next one."
            );
            return failure::page_of(
                &Failure::new(ErrorCode::RateLimited).message(message).after_s(after_s),
            );
        }
        Err(error @ IdentityError::OperatorExpired(_)) => {
            (Failure::from(error).message.into_owned(), StatusCode::FORBIDDEN)
        }
        Err(error) => return failure::page_of(&error.into()),
    };
    form_page(&console, &headers, status, Some(&problem))
}

/// Ends the session of the browser.
pub(super) async fn sign_out(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    form: ConsoleForm,
) -> Response {
    console.sessions.end(&form.cookie);
    let value = console.app.host.identity.new_browser_cookie();
    let jar = CookieJar::new().add(cookie(value, is_secure(&headers)));
    (jar, see_other(SIGN_IN)).into_response()
}

/// Returns whether a form came by https, which a proxy in front of the host speaks.
fn is_secure(headers: &HeaderMap) -> bool {
    headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"))
}
