//! `/account`: a person's own page. It shows what capabilities have for the person, at a glance, and what can act
//! for them, with its end: sessions of browsers, agents with what the person has consented to, and passkeys.

use crate::{
    App, RequestId,
    oauth::{
        account_email,
        account_session::{signed_in, zone_of},
        actions::{SessionChange, SignInActions},
        browser::see_other,
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
        passkey::to_ceremony,
        person::{
            activity::{LoggedCall, last_calls},
            calls::PersonCalls,
            glance::{Glance, glances},
        },
        session::{failure_page, sign_out},
        sign_in::SCOPE_TEXTS,
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{Extension, extract::State, http::StatusCode, response::Response};
use portolan_identity::{CeremonyAnswer, EmailView, IdentityError, PasskeyView, Session};
use portolan_vocabulary::{Access, Failure, OwnedAgent, SCOPES, Zone};
use std::sync::Arc;

const PATH: &str = "/account";
/// The maximum number of agents whose last calls are shown; in test mode a person can have more.
const AGENTS: usize = 20;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    this: &'a Session,
    form_token: &'a str,
    /// The oldest first.
    sessions: Vec<Session>,
    agents: Vec<AgentEntry>,
    /// The last changes by the person on these pages.
    own_calls: Vec<LoggedCall>,
    passkeys: Vec<PasskeyView>,
    has_passkeys: bool,
    /// `None` if this person cannot have emails.
    email: Option<EmailView>,
    glances: Vec<Glance>,
    zone: Zone,
}

/// An agent with its last calls.
struct AgentEntry {
    agent: OwnedAgent,
    calls: Vec<LoggedCall>,
}

impl AgentEntry {
    /// Returns what the agent may do, in words. An agent without a consent may do everything.
    fn scopes(&self) -> Vec<&'static str> {
        let allowed: Vec<&str> = match &self.agent.scope {
            Some(scope) => scope.split(' ').collect(),
            None => SCOPES.to_vec(),
        };
        let is_allowed = |(access, _): &&(Access, &str)| {
            access.scope().is_some_and(|scope| allowed.contains(&scope))
        };
        SCOPE_TEXTS.iter().filter(is_allowed).map(|(_, text)| *text).collect()
    }
}

/// Shows the page of the person.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    PageRequest { cookies, address, .. }: PageRequest,
) -> Response {
    let session = match signed_in(&app, &cookies, PATH).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let calls = match PersonCalls::of(&app, &session, request_id, address).await {
        Ok(calls) => calls,
        Err(error) => return failure_page(&error),
    };
    let (form_token, cookies) = form_token(&app, cookies);
    let shown = match load(&app, &session, &form_token, &calls).await {
        Ok(shown) => shown,
        Err(error) => return failure_page(&error),
    };
    cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHostWithScript))
}

async fn load<'a>(
    app: &App,
    session: &'a Session,
    form_token: &'a str,
    calls: &PersonCalls<'_>,
) -> Result<AccountPage<'a>, IdentityError> {
    let identity = &app.host.identity;
    let owner_id = &session.owner_id;
    let mut agents = Vec::new();
    for (number, agent) in identity.list_agents_by_owner(owner_id).await?.into_iter().enumerate() {
        let calls = match number < AGENTS {
            true => last_calls(app, &agent.agent_id, owner_id).await?,
            false => Vec::new(),
        };
        agents.push(AgentEntry { agent, calls });
    }
    let page_agent = identity.page_agent_id(owner_id).await?;
    Ok(AccountPage {
        this: session,
        form_token,
        sessions: identity.list_sessions(owner_id).await?,
        agents,
        own_calls: last_calls(app, &page_agent, owner_id).await?,
        passkeys: identity.list_passkeys(owner_id).await?,
        has_passkeys: identity.has_passkeys(),
        email: account_email::view(app, owner_id).await?,
        glances: glances(app, calls).await,
        zone: zone_of(app, session).await?,
    })
}

/// Ends a session, an agent, or everything; adds or removes a passkey.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    form: PageForm,
) -> Response {
    let PageRequest { cookies, address, browser } = &form.request;
    let session = match signed_in(&app, cookies, PATH).await {
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
        step => match account_email::submit(&app, &session, step, form.field("address")).await {
            Some(changed) => changed.map(|()| SessionChange::Unchanged),
            None => return foreign_form(),
        },
    };
    match change {
        Ok(SessionChange::Ended) => form.request.cookies.end_session().add_to(see_other(PATH)),
        Ok(_) => see_other(PATH),
        Err(failure) => failed(&failure),
    }
}
