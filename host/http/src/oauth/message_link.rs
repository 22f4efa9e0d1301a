//! The pages of the link in a text message. Opening the link changes nothing, because phones fetch links to
//! preview them. With a form, the person signs in the browser that has opened it. Signed in, they can approve
//! an agent whose approval code they enter; the page names it before.

use crate::{
    App,
    oauth::{
        actions::{SessionChange, start_session},
        browser::{see_other, stop_page},
        client::parameters,
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
        passkey::start_second_factor,
        session::{require_session, sign_out},
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use portolan_identity::{NewSession, Session};
use portolan_pipeline::Operation;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, Role, Timestamp};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::Arc;

/// The page for a person who is signed in.
const APPROVAL_PATH: &str = "/approve";
/// The steps by which a person signs in to approve an agent.
const SIGN_IN: &str = "Open the link of a message from this host on your phone. If it has expired, ask for another code.";
/// The name of the agent that signs in a person by a link.
const SIGN_IN_NAME: &str = "The link of a text message";

/// The part of a link's answer that is about its message.
#[derive(Deserialize)]
struct LinkView {
    phone_masked: String,
    agent_name: Option<String>,
    asked_at: Timestamp,
}

#[derive(Deserialize)]
struct SignedIn {
    owner_id: String,
    phone_masked: String,
}

/// An agent that asks to act for the person.
#[derive(Deserialize)]
struct Candidate {
    agent_id: String,
    agent_name: Option<String>,
    asked_at: Timestamp,
}

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage<'a> {
    link: LinkView,
    form_token: &'a str,
}

#[derive(Template)]
#[template(path = "approve.html")]
struct ApprovalPage<'a> {
    proof: &'a str,
    form_token: &'a str,
    problem: Option<String>,
    approval_code: &'a str,
    candidate: Option<Candidate>,
}

/// Shows the effect of a link.
pub(crate) async fn show_link(
    State(app): State<Arc<App>>,
    PageRequest { cookies, .. }: PageRequest,
    secret: Result<Path<String>, PathRejection>,
) -> Response {
    match view_link(&app, secret).await {
        Ok((_, link)) => {
            let (form_token, cookies) = form_token(&app, cookies);
            let shown = LinkPage { link, form_token: &form_token };
            cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHostWithScript))
        }
        Err(failure) => failed(&failure),
    }
}

/// Signs in the browser that has opened a link.
pub(crate) async fn follow_link(
    State(app): State<Arc<App>>,
    secret: Result<Path<String>, PathRejection>,
    form: PageForm,
) -> Response {
    let PageRequest { cookies, browser, .. } = form.request;
    let signed_in = match view_link(&app, secret).await {
        Ok((secret, _)) => sign_in(&app, &secret, browser).await,
        Err(failure) => Err(failure),
    };
    match signed_in {
        Ok(SessionChange::Started(cookie)) => {
            cookies.set_session(cookie).add_to(see_other(APPROVAL_PATH))
        }
        Ok(SessionChange::NeedsPasskey(new)) => {
            start_second_factor(&app, &cookies, &new, APPROVAL_PATH).await
        }
        Ok(SessionChange::Unchanged | SessionChange::Ended) => see_other(APPROVAL_PATH),
        Err(failure) => failed(&failure),
    }
}

/// Shows the form for an approval code, or the agent that has one.
pub(crate) async fn show_approval(
    State(app): State<Arc<App>>,
    PageRequest { cookies, .. }: PageRequest,
    RawQuery(query): RawQuery,
) -> Response {
    let session = match require_session(&app, &cookies, SIGN_IN, APPROVAL_PATH).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let approval_code = query.get("approval_code").map(String::as_str).unwrap_or_default();
    let found = match approval_code {
        "" => Ok(None),
        code => find_candidate(&app, &session, code).await.map(Some),
    };
    let (candidate, problem) = match found {
        Ok(candidate) => (candidate, None),
        Err(failure) if failure.kind.http_status() < 500 => {
            let text = "No agent with this code has asked for your number in the last ten minutes.";
            (None, Some(text.to_owned()))
        }
        Err(failure) => return failed(&failure),
    };
    let (form_token, cookies) = form_token(&app, cookies);
    let (proof, form_token) = (&*session.proof, &*form_token);
    let shown = ApprovalPage { proof, form_token, problem, approval_code, candidate };
    cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHostWithScript))
}

/// Claims the agent that the page has named, or signs the person out.
pub(crate) async fn submit_approval(State(app): State<Arc<App>>, form: PageForm) -> Response {
    let cookies = &form.request.cookies;
    match form.field("step") {
        "approve" => {
            let session = match require_session(&app, cookies, SIGN_IN, APPROVAL_PATH).await {
                Ok(session) => session,
                Err(page) => return *page,
            };
            match approve(&app, &session, form.field("approval_code")).await {
                Ok(()) => {
                    let text = "The agent acts for you from now on. Go back to it. You can revoke it at any time on the page /account, or ask any of your agents.";
                    stop_page(StatusCode::OK, "Approved", text)
                }
                Err(failure) => failed(&failure),
            }
        }
        "sign_out" => match sign_out(&app, cookies).await {
            Ok(_) => form.request.cookies.end_session().add_to(see_other(APPROVAL_PATH)),
            Err(failure) => failed(&failure),
        },
        _ => foreign_form(),
    }
}

async fn view_link(
    app: &App,
    secret: Result<Path<String>, PathRejection>,
) -> Result<(String, LinkView), Failure> {
    let Path(secret) = secret.map_err(|_| Failure::new(ErrorCode::NotFound))?;
    let view = run(app, "view_link", json!({ "secret": secret }), None).await?;
    Ok((secret, view))
}

/// Uses a link and starts a session, unless the person also needs a passkey.
async fn sign_in(
    app: &App,
    secret: &str,
    browser: Option<&'static str>,
) -> Result<SessionChange, Failure> {
    let identity = &app.host.identity;
    let agent = identity.register_sign_in_agent(Some(SIGN_IN_NAME)).await?;
    let agent_id = agent.agent_id.clone();
    let signed_in: Result<SignedIn, Failure> =
        run(app, "redeem_link", json!({ "secret": secret }), Some(agent)).await;
    identity.revoke_sign_in_agent(&agent_id).await?;
    let SignedIn { owner_id, phone_masked } = signed_in?;
    start_session(app, NewSession { owner_id, proof: phone_masked, browser }).await
}

async fn find_candidate(app: &App, session: &Session, code: &str) -> Result<Candidate, Failure> {
    let input = json!({ "owner_id": session.owner_id, "approval_code": code });
    run(app, "find_attempt", input, None).await
}

async fn approve(app: &App, session: &Session, code: &str) -> Result<(), Failure> {
    let candidate = find_candidate(app, session, code).await?;
    app.host.identity.record_approval(session, &candidate.agent_id).await?;
    let agent = app.host.identity.lookup_caller(&candidate.agent_id).await?;
    let input = json!({ "owner_id": session.owner_id, "approval_code": code });
    let _claimed: Value = run(app, "approve", input, Some(agent)).await?;
    // Agents that sign in a browser are never claimed.
    let agent = app.host.identity.lookup_caller(&candidate.agent_id).await?;
    match agent.owner_id.as_deref() == Some(&session.owner_id) {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::NotPermitted)
            .message("This code belongs to a sign-in in another browser, not to an agent.")),
    }
}

/// Runs an internal action of the capability that verifies phone numbers, in the name of an agent or of the
/// host itself.
async fn run<T: DeserializeOwned>(
    app: &App,
    action: &str,
    input: Value,
    agent: Option<AgentCaller>,
) -> Result<T, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.holder(Role::PhoneVerification)?.id.to_string();
    let operation = Operation { capability, action: action.to_owned(), input, test_mode: false };
    let output = match agent {
        Some(agent) => app.host.run_for_agent(&operation, agent).await?,
        None => app.host.run_internal(&operation).await?,
    };
    serde_json::from_value(output).map_err(|error| {
        tracing::error!(action, %error, "the answer of the capability cannot be parsed");
        Failure::new(ErrorCode::InternalError)
    })
}
