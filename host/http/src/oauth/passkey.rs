//! The pages on which a browser uses a passkey. Their script asks the browser for it and submits the form.

use crate::{
    App,
    oauth::{
        browser::{Cookies, see_other},
        client::parameters,
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    extract::{RawQuery, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_identity::{CeremonyAnswer, CeremonyPurpose, IdentityError, NewSession};
use std::sync::Arc;

const SCRIPT: &str = include_str!("../../templates/passkey.js");
const PATH: &str = "/passkey";
const ACCOUNT_PATH: &str = "/account";
/// The pages where a sign-in may go on that began at one of them.
const PAGES: [&str; 2] = [ACCOUNT_PATH, "/approve"];

#[derive(Template)]
#[template(path = "passkey.html")]
struct PasskeyPage<'a> {
    title: &'a str,
    text: &'a str,
    /// The function of `navigator.credentials`.
    function: &'a str,
    action: &'a str,
    step: &'a str,
    ceremony: &'a str,
    options: &'a str,
    form_token: &'a str,
}

/// Returns a redirect to the page of a ceremony.
pub(super) fn to_ceremony(started: Result<String, IdentityError>) -> Response {
    match started {
        Ok(id) => see_other(&format!("{PATH}?ceremony={id}")),
        Err(error) => failed(&error.into()),
    }
}

/// Sends a person who has proved their number to the page where they use a passkey. The sign-in goes on at the
/// path `next`.
pub(super) async fn start_second_factor(
    app: &App,
    cookies: &Cookies,
    new: &NewSession,
    next: &str,
) -> Response {
    let browser = cookies.browser().unwrap_or_default();
    to_ceremony(app.host.identity.start_second_factor(new, &browser, next).await)
}

/// Sends anybody to the page where they sign in with a passkey alone. The sign-in goes on at the path `next`.
pub(super) async fn start_sign_in(app: &App, cookies: &Cookies, next: &str) -> Response {
    let browser = cookies.browser().unwrap_or_default();
    to_ceremony(app.host.identity.start_passkey_sign_in(&browser, next).await)
}

/// Shows the page of a ceremony.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    PageRequest { cookies, .. }: PageRequest,
    RawQuery(query): RawQuery,
) -> Response {
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let id = query.get("ceremony").map(String::as_str).unwrap_or_default();
    let browser = cookies.browser().unwrap_or_default();
    let ceremony = match app.host.identity.find_ceremony(id, &browser).await {
        Ok(ceremony) => ceremony,
        Err(error) => return failed(&error.into()),
    };
    let (title, text) = match ceremony.purpose {
        CeremonyPurpose::AddPasskey => (
            "Add a passkey",
            "With a passkey, nobody can act for you who only has your number, and you can sign in without it.",
        ),
        CeremonyPurpose::SignIn => {
            ("Sign in with a passkey", "Your browser or phone asks you to confirm.")
        }
        CeremonyPurpose::SecondFactor => (
            "Now your passkey",
            "Your number is right. You have passkeys, so please confirm with one of them that it is you.",
        ),
    };
    let (function, action, step) = match ceremony.purpose {
        CeremonyPurpose::AddPasskey => ("create", ACCOUNT_PATH, "save_passkey"),
        CeremonyPurpose::SignIn | CeremonyPurpose::SecondFactor => ("get", PATH, "answer"),
    };
    let (form_token, cookies) = form_token(&app, cookies);
    let shown = PasskeyPage {
        title,
        text,
        function,
        action,
        step,
        ceremony: id,
        options: &ceremony.options,
        form_token: &form_token,
    };
    cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHostByScript))
}

/// Starts a sign-in with a passkey, or completes it.
pub(crate) async fn submit(State(app): State<Arc<App>>, form: PageForm) -> Response {
    let PageRequest { cookies, browser: family, .. } = &form.request;
    match form.field("step") {
        "start" => {
            let next = PAGES.into_iter().find(|page| *page == form.field("next"));
            start_sign_in(&app, cookies, next.unwrap_or(ACCOUNT_PATH)).await
        }
        "answer" => {
            let browser = cookies.browser().unwrap_or_default();
            let answer = CeremonyAnswer {
                id: form.field("ceremony"),
                credential: form.field("credential"),
                browser: &browser,
            };
            match app.host.identity.sign_in_with_passkey(answer, *family).await {
                Ok(signed_in) => {
                    let cookies = form.request.cookies.set_session(signed_in.cookie);
                    cookies.add_to(see_other(&signed_in.next))
                }
                Err(error) => failed(&error.into()),
            }
        }
        _ => foreign_form(),
    }
}

pub(crate) async fn script() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, SCRIPT).into_response()
}
