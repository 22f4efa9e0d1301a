//! `/email/{token}`: the page that a link in an email opens, without a sign-in. Opening it changes nothing. Its form
//! confirms the address or ends emails to it; mail programs end emails by the same request (RFC 8058), so it needs no
//! page before.

use crate::{
    App,
    oauth::{
        browser::stop_page,
        forms::{PageRequest, failed},
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use portolan_identity::{EmailLink, IdentityError};
use std::sync::Arc;

/// The length of a token.
const TOKEN: usize = 22;

#[derive(Template)]
#[template(path = "email_link.html")]
struct EmailLinkPage<'a> {
    host: &'a str,
    address: String,
    confirms: bool,
    /// Whether the form was sent.
    is_done: bool,
}

/// Shows the effect of a link.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _request: PageRequest,
    token: Result<Path<String>, PathRejection>,
) -> Response {
    match token {
        Ok(Path(token)) if token.len() == TOKEN => {
            answer(&app, app.host.identity.find_email_link(&token).await, false)
        }
        _ => answer(&app, Ok(None), false),
    }
}

/// Carries out a link.
pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    _request: PageRequest,
    token: Result<Path<String>, PathRejection>,
) -> Response {
    match token {
        Ok(Path(token)) if token.len() == TOKEN => {
            answer(&app, app.host.identity.follow_email_link(&token).await, true)
        }
        _ => answer(&app, Ok(None), true),
    }
}

fn answer(app: &App, found: Result<Option<EmailLink>, IdentityError>, is_done: bool) -> Response {
    match found {
        Ok(Some(link)) => {
            let host = app.public_url.split_once("://").map_or("", |(_, host)| host);
            let address = link.address.masked();
            let shown = EmailLinkPage { host, address, confirms: link.confirms, is_done };
            page(StatusCode::OK, &shown, FormTargets::ThisHost)
        }
        Ok(None) => {
            let text = "It was used, or has expired, or the address was changed or removed. Nothing is sent because of it. You see and change your address on the page /account.";
            stop_page(StatusCode::NOT_FOUND, "This link is no longer valid", text)
        }
        Err(error) => failed(&error.into()),
    }
}
