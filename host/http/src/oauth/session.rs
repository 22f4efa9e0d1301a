//! The session of the person who has opened a page, and the pages for those who have none.

use crate::{
    App,
    oauth::{
        actions::SessionChange,
        browser::{Cookies, stop_page},
        forms::form_token,
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{http::StatusCode, response::Response};
use portolan_identity::{IdentityError, Session};
use portolan_vocabulary::Failure;

#[derive(Template)]
#[template(path = "signed_out.html")]
struct SignedOutPage<'a> {
    text: &'a str,
    has_passkeys: bool,
    form_token: &'a str,
    next: &'a str,
}

pub(super) fn failure_page(error: &IdentityError) -> Response {
    tracing::error!(%error, "the sign-in page cannot answer");
    let text = "Something went wrong on our side. Go back to the application and try again.";
    stop_page(StatusCode::SERVICE_UNAVAILABLE, "Not now", text)
}

/// Returns the session of the browser's cookie, if it is valid.
pub(super) async fn find_session(
    app: &App,
    cookies: &Cookies,
) -> Result<Option<Session>, IdentityError> {
    match cookies.session() {
        Some(cookie) => app.host.identity.find_session_by_cookie(&cookie).await,
        None => Ok(None),
    }
}

/// Returns the session of the person who is signed in; the error is a page that says how to sign in for the page
/// `next`, or what failed.
pub(super) async fn require_session(
    app: &App,
    cookies: &Cookies,
    sign_in: &str,
    next: &str,
) -> Result<Session, Box<Response>> {
    match find_session(app, cookies).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => {
            let (form_token, cookies) = form_token(app, cookies.clone());
            let has_passkeys = app.host.identity.has_passkeys();
            let shown =
                SignedOutPage { text: sign_in, has_passkeys, form_token: &form_token, next };
            let shown = page(StatusCode::UNAUTHORIZED, &shown, FormTargets::ThisHost);
            Err(Box::new(cookies.add_to(shown)))
        }
        Err(error) => Err(Box::new(failure_page(&error))),
    }
}

/// Ends the session of this browser.
pub(super) async fn sign_out(app: &App, cookies: &Cookies) -> Result<SessionChange, Failure> {
    if let Some(session) = find_session(app, cookies).await? {
        app.host.identity.end_session(&session.owner_id, &session.id).await?;
    }
    Ok(SessionChange::Ended)
}
