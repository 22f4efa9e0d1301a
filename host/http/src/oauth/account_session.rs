//! The session of a person who opens their own page, or the sign-in for it.

use crate::{
    App,
    oauth::{
        browser::Cookies,
        session::{failure_page, find_session},
        sign_in::begin,
    },
};
use axum::{http::StatusCode, response::Response};
use portolan_identity::{AccountRequest, IdentityError, Session, SignInPurpose};
use portolan_vocabulary::Zone;

/// Returns the session of the person who is signed in. The error is the first page of a sign-in that leads to
/// the page at this path, or says what failed.
pub(super) async fn signed_in(
    app: &App,
    cookies: &Cookies,
    path: &str,
) -> Result<Session, Box<Response>> {
    match find_session(app, cookies).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => Err(Box::new(begin_sign_in(app, cookies, path, None).await)),
        Err(error) => Err(Box::new(failure_page(&error))),
    }
}

/// Returns the first page of a sign-in that leads to the page at this path. `reason` is what the person wants to do
/// there, if it is not to see their account.
pub(super) async fn begin_sign_in(
    app: &App,
    cookies: &Cookies,
    path: &str,
    reason: Option<String>,
) -> Response {
    let request = AccountRequest { account_page: path.to_owned(), reason };
    let mut page = begin(app, cookies.clone(), SignInPurpose::Account(request)).await;
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    page
}

/// Returns the time zone that the person has chosen in their settings, or UTC. The script of a page knows better.
pub(super) async fn zone_of(app: &App, session: &Session) -> Result<Zone, IdentityError> {
    let zone = app.host.identity.find_zone(&session.owner_id).await?;
    Ok(zone.unwrap_or_default())
}
