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
use portolan_identity::{AccountRequest, Session, SignInPurpose};

/// Returns the session of the person who is signed in. The error is the first page of a sign-in that leads to
/// the page at this path, or says what failed.
pub(super) async fn signed_in(
    app: &App,
    cookies: &Cookies,
    path: &str,
) -> Result<Session, Box<Response>> {
    match find_session(app, cookies).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => {
            let request = AccountRequest { account_page: path.to_owned() };
            let mut page = begin(app, cookies.clone(), SignInPurpose::Account(request)).await;
            *page.status_mut() = StatusCode::UNAUTHORIZED;
            Err(Box::new(page))
        }
        Err(error) => Err(Box::new(failure_page(&error))),
    }
}
