//! `/account`: what can act for a person who is signed in, and its end: sessions of browsers, agents with what
//! the person has consented to, and passkeys.

use crate::{
    App, RequestId,
    address::ClientAddress,
    oauth::{
        actions::{SessionChange, SignInActions},
        browser::{Cookies, FormTargets, family, page, see_other, stop_page},
        forms::{failed, form_token, own_form},
        passkey::to_ceremony,
        session::{failure_page, require_session, sign_out},
    },
};
use askama::Template;
use axum::{
    Extension,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use axum_extra::extract::CookieJar;
use portolan_identity::{CeremonyAnswer, IdentityError, PasskeyView, Session};
use portolan_vocabulary::{Failure, OwnedAgent};
use std::sync::Arc;

/// How a person signs in to see the page.
const SIGN_IN: &str = "To sign in, open the link of a message from this host. If you think that somebody else acts for you, tell any of your agents to sign you out everywhere.";
const PATH: &str = "/account";

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    this: &'a Session,
    form_token: &'a str,
    /// The oldest first.
    sessions: Vec<Session>,
    agents: Vec<OwnedAgent>,
    passkeys: Vec<PasskeyView>,
    has_passkeys: bool,
}

/// Shows the sessions and the agents of the person.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    jar: CookieJar,
) -> Response {
    let cookies = Cookies::new(jar, &app);
    if let Err(failure) = app.host.rates.count_page_view(address) {
        return failed(&failure);
    }
    let session = match require_session(&app, &cookies, SIGN_IN, PATH).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let (sessions, agents, passkeys) = match load(&app, &session).await {
        Ok(loaded) => loaded,
        Err(error) => return failure_page(&error),
    };
    let (form_token, cookies) = form_token(&app, cookies);
    let has_passkeys = app.host.identity.has_passkeys();
    let (this, form_token) = (&session, form_token.as_str());
    let shown = AccountPage { this, form_token, sessions, agents, passkeys, has_passkeys };
    cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHost))
}

async fn load(
    app: &App,
    session: &Session,
) -> Result<(Vec<Session>, Vec<OwnedAgent>, Vec<PasskeyView>), IdentityError> {
    let identity = &app.host.identity;
    let owner_id = &session.owner_id;
    let sessions = identity.list_sessions(owner_id).await?;
    let agents = identity.list_agents_by_owner(owner_id).await?;
    Ok((sessions, agents, identity.list_passkeys(owner_id).await?))
}

/// Ends a session, an agent, or everything; adds or removes a passkey.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    ClientAddress(address): ClientAddress,
    jar: CookieJar,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let cookies = Cookies::new(jar, &app);
    let Some(form) = own_form(&app, &cookies, &headers, body) else { return foreign_form() };
    if let Err(failure) = app.host.rates.count_page_view(address) {
        return failed(&failure);
    }
    let session = match require_session(&app, &cookies, SIGN_IN, PATH).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let actions = SignInActions { app: &app, request_id, address, browser: family(&headers) };
    let identity = &app.host.identity;
    let change = match field("step") {
        "end_session" => {
            let ended = identity.end_session(&session.owner_id, field("session")).await;
            ended.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "end_agent" => actions.revoke_agent(&session, field("agent")).await,
        "add_passkey" => {
            let browser = cookies.browser().unwrap_or_default();
            return to_ceremony(identity.start_adding_passkey(&session, &browser).await);
        }
        "save_passkey" => {
            let browser = cookies.browser().unwrap_or_default();
            let answer = CeremonyAnswer {
                id: field("ceremony"),
                credential: field("credential"),
                browser: &browser,
            };
            let saved = identity.finish_adding_passkey(&session, answer, field("name")).await;
            saved.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "remove_passkey" => {
            let removed = identity.remove_passkey(&session, field("passkey")).await;
            removed.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "sign_out" => sign_out(&app, &cookies).await,
        "sign_out_everywhere" => actions.sign_out_everywhere(&session).await,
        _ => return foreign_form(),
    };
    match change {
        Ok(SessionChange::Ended) => cookies.end_session().add_to(see_other(PATH)),
        Ok(_) => see_other(PATH),
        Err(failure) => failed(&failure),
    }
}

fn foreign_form() -> Response {
    let text = "It was opened in another browser. Open your account again.";
    stop_page(StatusCode::BAD_REQUEST, "This page has expired", text)
}
