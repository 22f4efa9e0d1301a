//! The session of the person who has opened a page, and the pages for those who have none.

use crate::{
    App,
    oauth::{
        actions::SessionChange,
        browser::{Cookies, FormTargets, page},
    },
};
use askama::Template;
use axum::{http::StatusCode, response::Response};
use portolan_identity::{IdentityError, Session};
use portolan_vocabulary::Failure;

#[derive(Template)]
#[template(path = "stop.html")]
struct StopPage<'a> {
    title: &'a str,
    text: &'a str,
}

/// Returns a page that says why nothing can be done here.
pub(super) fn stop_page(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, &StopPage { title, text }, FormTargets::ThisHost)
}

pub(super) fn failure_page(error: &IdentityError) -> Response {
    tracing::error!(%error, "the sign-in page cannot answer");
    let text = "Something went wrong on our side. Go back to the application and try again.";
    stop_page(StatusCode::SERVICE_UNAVAILABLE, "Not now", text)
}

/// Returns the session of the browser's cookie, if it is valid.
pub(super) async fn find_session(
    app: &App,
    cookies: &Cookies<'_>,
) -> Result<Option<Session>, IdentityError> {
    match cookies.session() {
        Some(cookie) => app.host.identity.find_session_by_cookie(&cookie).await,
        None => Ok(None),
    }
}

/// Returns the session of the person who is signed in; the error is a page that says how to sign in, or what
/// failed.
pub(super) async fn require_session(
    app: &App,
    cookies: &Cookies<'_>,
    sign_in: &str,
) -> Result<Session, Box<Response>> {
    match find_session(app, cookies).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => {
            Err(Box::new(stop_page(StatusCode::UNAUTHORIZED, "You are not signed in", sign_in)))
        }
        Err(error) => Err(Box::new(failure_page(&error))),
    }
}

/// Ends the session of this browser.
pub(super) async fn sign_out(app: &App, cookies: &Cookies<'_>) -> Result<SessionChange, Failure> {
    if let Some(session) = find_session(app, cookies).await? {
        app.host.identity.end_session(&session.owner_id, &session.id).await?;
    }
    Ok(SessionChange::Ended)
}
