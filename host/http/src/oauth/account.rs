//! `/account`: what can act for a person who is signed in, and its end: sessions of browsers, agents with what
//! the person has consented to, and passkeys.

use crate::{
    App, RequestId,
    oauth::{
        actions::{SessionChange, SignInActions},
        browser::see_other,
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
        passkey::to_ceremony,
        session::{failure_page, require_session, sign_out},
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{Extension, extract::State, http::StatusCode, response::Response};
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
    PageRequest { cookies, .. }: PageRequest,
) -> Response {
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
    form: PageForm,
) -> Response {
    let PageRequest { cookies, address, browser } = &form.request;
    let session = match require_session(&app, cookies, SIGN_IN, PATH).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let (address, browser) = (*address, *browser);
    let actions = SignInActions { app: &app, request_id, address, browser };
    let identity = &app.host.identity;
    let change = match form.field("step") {
        "end_session" => {
            let ended = identity.end_session(&session.owner_id, form.field("session")).await;
            ended.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "end_agent" => actions.revoke_agent(&session, form.field("agent")).await,
        "add_passkey" => {
            let browser = cookies.browser().unwrap_or_default();
            return to_ceremony(identity.start_adding_passkey(&session, &browser).await);
        }
        "save_passkey" => {
            let browser = cookies.browser().unwrap_or_default();
            let answer = CeremonyAnswer {
                id: form.field("ceremony"),
                credential: form.field("credential"),
                browser: &browser,
            };
            let saved = identity.finish_adding_passkey(&session, answer, form.field("name")).await;
            saved.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "remove_passkey" => {
            let removed = identity.remove_passkey(&session, form.field("passkey")).await;
            removed.map(|()| SessionChange::Unchanged).map_err(Failure::from)
        }
        "sign_out" => sign_out(&app, cookies).await,
        "sign_out_everywhere" => actions.sign_out_everywhere(&session).await,
        _ => return foreign_form(),
    };
    match change {
        Ok(SessionChange::Ended) => form.request.cookies.end_session().add_to(see_other(PATH)),
        Ok(_) => see_other(PATH),
        Err(failure) => failed(&failure),
    }
}
