//! The pages on which a person signs in and decides on the request of a client, a device or an agent.
//!
//! The person's progress is a signed text in the page's form. Each form redirects to the next page, so
//! that going back or reloading repeats no step.

use crate::{
    App, RequestId,
    address::ClientAddress,
    oauth::{
        actions::{SessionChange, SignInActions},
        browser::{Cookies, family, see_other},
        client::{Form, form, parameters},
        consent::{Origin, allow, expired_page, refuse},
        passkey::{start_second_factor, start_sign_in},
        session::{failure_page, find_session, sign_out},
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    Extension,
    body::Bytes,
    extract::{RawQuery, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use axum_extra::extract::CookieJar;
use portolan_identity::{IdentityError, SignInProgress, SignInPurpose};
use portolan_vocabulary::{Access, ErrorCode, Failure, OwnedAgent, SCOPES};
use std::sync::Arc;

/// The path of every page after the first.
const CONTINUE_PATH: &str = "/oauth/authorize/continue";

/// The name on the pages of an agent that has none.
const NAMELESS: &str = "An agent without a name";

/// The text about each scope on the consent page, and on the page of an account.
pub(super) const SCOPE_TEXTS: [(Access, &str); 3] = [
    (Access::Read, "Search, and read your listings, matches, conversations and meetings"),
    (Access::Write, "Publish listings, write to people and arrange meetings in your name"),
    (Access::Events, "Receive events about replies, confirmations and new matches"),
];

/// The error code after which the page shows the agents that the person can revoke.
const TOO_MANY_AGENTS: &str = "not_permitted";

/// The page's text for each error code of a capability.
const PROBLEMS: [(&str, &str); 14] = [
    (
        "phone_invalid",
        "This is not a mobile number in the international form, such as +1 201 555 0123.",
    ),
    (
        "phone_not_allowed",
        "A code cannot be sent to this number. Use a mobile number that is yours.",
    ),
    ("sms_rate_limited", "Too many codes were sent. Try again later."),
    (
        "resend_too_soon",
        "A code was sent just now. Wait half a minute before you ask for another one.",
    ),
    ("sms_undeliverable", "The message could not be delivered. Check the number."),
    ("code_invalid", "This is not the code. Look at the newest message, and try again."),
    ("code_expired", "The code has expired. Ask for a new one."),
    (
        "too_many_attempts",
        "There were too many wrong codes. Open the link of the last message from us in this browser, or ask for a new code in a while.",
    ),
    (
        "number_in_quarantine",
        "Nobody has signed in with this number for a long time, so it may have become another person's. If the account is yours, confirm the number with one of your agents, or sign in with a passkey. Otherwise come back in a week: you then get an account of your own.",
    ),
    ("no_code_sent", "No code was sent. Open the link of the last message from us."),
    ("no_pending_bind", "The code was used, or a newer one was sent. Ask for a new one."),
    (
        TOO_MANY_AGENTS,
        "You have as many agents as a person can have. Revoke one that you no longer use.",
    ),
    ("rate_limited", "There were too many attempts. Wait a minute."),
    ("authentication_required", "You were signed out. Prove your number again."),
];
const DEFAULT_PROBLEM: &str = "Something went wrong on our side. Try again in a while.";

#[derive(Template)]
#[template(path = "phone.html")]
struct PhonePage<'a> {
    /// The application or agent that asks for consent; `None` for a sign-in at the person's own pages.
    name: Option<&'a str>,
    /// The person's purpose after the sign-in, if it is not to see their account.
    reason: Option<&'a str>,
    /// Whether the person came from an application in this browser, to which they can go back.
    can_go_back: bool,
    steps: &'a str,
    form_token: &'a str,
    problem: Option<&'static str>,
    has_passkeys: bool,
}

#[derive(Template)]
#[template(path = "code.html")]
struct CodePage<'a> {
    steps: &'a str,
    problem: Option<&'static str>,
    phone_masked: &'a str,
    by_link: bool,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    name: &'a str,
    steps: &'a str,
    problem: Option<&'static str>,
    proof: &'a str,
    origin: Origin<'a>,
    scopes: Vec<&'static str>,
    /// The agents of which the person must revoke one; empty if there are not too many.
    agents: &'a [OwnedAgent],
}

/// Begins a sign-in in the browser of a request.
pub(super) async fn begin(app: &App, cookies: Cookies, purpose: SignInPurpose) -> Response {
    let (browser, cookies) = match cookies.browser() {
        Some(browser) => (browser, cookies),
        None => {
            let browser = app.host.identity.new_browser_cookie();
            (browser.clone(), cookies.set_browser(browser))
        }
    };
    show_progress(app, cookies, &app.host.identity.start_sign_in(purpose, &browser)).await
}

/// Shows the page for the person's progress.
pub(crate) async fn continue_page(
    State(app): State<Arc<App>>,
    jar: CookieJar,
    RawQuery(query): RawQuery,
) -> Response {
    let cookies = Cookies::new(jar, &app);
    let parameters = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    match progress(&app, &cookies, &parameters) {
        Some(progress) => show_progress(&app, cookies, &progress).await,
        None => expired_page(),
    }
}

fn progress(app: &App, cookies: &Cookies, parameters: &Form) -> Option<SignInProgress> {
    app.host.identity.verify_progress(parameters.get("steps")?, cookies.browser().as_deref())
}

async fn show_progress(app: &App, cookies: Cookies, progress: &SignInProgress) -> Response {
    let identity = &app.host.identity;
    let (session, steps) =
        match (find_session(app, &cookies).await, identity.sign_progress(progress)) {
            (Ok(session), Ok(steps)) => (session, steps),
            (Err(error), _) | (_, Err(error)) => return failure_page(&error),
        };
    let agents = match &session {
        Some(session) if progress.problem.as_deref() == Some(TOO_MANY_AGENTS) => {
            identity.list_agents_by_owner(&session.owner_id).await
        }
        _ => Ok(Vec::new()),
    };
    let agents = match agents {
        Ok(agents) => agents,
        Err(error) => return failure_page(&error),
    };
    let problem = progress.problem.as_deref().map(|code| {
        let entry = PROBLEMS.iter().find(|(entry_code, _)| *entry_code == code);
        entry.map_or(DEFAULT_PROBLEM, |(_, text)| *text)
    });
    let (purpose, steps) = (&progress.purpose, steps.as_str());
    let name = purpose.name().unwrap_or(NAMELESS);
    let (can_go_back, forms) = match purpose {
        SignInPurpose::Authorization(_) => (true, FormTargets::AnyHost),
        SignInPurpose::Device(_) | SignInPurpose::Claim(_) | SignInPurpose::Account(_) => {
            (false, FormTargets::ThisHost)
        }
    };
    if let (Some(_), SignInPurpose::Account(request)) = (&session, purpose) {
        return cookies.add_to(see_other(&request.account_page));
    }
    let shown = match (&session, &progress.phone_masked) {
        (Some(session), _) => {
            let (proof, origin) = (&*session.proof, Origin::of(purpose));
            let (scopes, agents) = (scope_texts(purpose), agents.as_slice());
            let consent = ConsentPage { name, steps, problem, proof, origin, scopes, agents };
            page(StatusCode::OK, &consent, forms)
        }
        (None, Some(phone_masked)) => {
            let by_link = progress.by_link;
            let code = CodePage { steps, problem, phone_masked, by_link };
            page(StatusCode::OK, &code, FormTargets::ThisHost)
        }
        (None, None) => {
            let has_passkeys = identity.has_passkeys();
            let form_token = cookies.browser().map(|browser| identity.form_token(&browser));
            let form_token = form_token.unwrap_or_default();
            let asks = (!matches!(purpose, SignInPurpose::Account(_))).then_some(name);
            let reason = match purpose {
                SignInPurpose::Account(request) => request.reason.as_deref(),
                _ => None,
            };
            let phone = PhonePage {
                name: asks,
                reason,
                can_go_back,
                steps,
                form_token: &form_token,
                problem,
                has_passkeys,
            };
            page(StatusCode::OK, &phone, forms)
        }
    };
    cookies.add_to(shown)
}

/// Returns the texts about what the person is asked to allow. A claimed agent may have every scope.
fn scope_texts(purpose: &SignInPurpose) -> Vec<&'static str> {
    let requested: Vec<&str> = match purpose {
        SignInPurpose::Authorization(request) => request.scope.split(' ').collect(),
        SignInPurpose::Device(request) => request.scope.split(' ').collect(),
        SignInPurpose::Claim(_) => SCOPES.to_vec(),
        // The person acts themselves.
        SignInPurpose::Account(_) => Vec::new(),
    };
    let is_requested = |(access, _): &&(Access, &str)| {
        access.scope().is_some_and(|scope| requested.contains(&scope))
    };
    SCOPE_TEXTS.iter().filter(is_requested).map(|(_, text)| *text).collect()
}

/// Carries out the step that a form names, then redirects to the next page.
pub(crate) async fn submit_step(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    ClientAddress(address): ClientAddress,
    jar: CookieJar,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let cookies = Cookies::new(jar, &app);
    let Ok(form) = form(&headers, body) else { return expired_page() };
    let Some(mut progress) = progress(&app, &cookies, &form) else { return expired_page() };
    progress.problem = None;
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let actions = SignInActions { app: &app, request_id, address, browser: family(&headers) };
    let result = match field("step") {
        "phone" => actions.bind(&mut progress, field("phone")).await,
        "resend" => actions.resend(&mut progress).await,
        "code" => actions.verify(&mut progress, field("code")).await,
        "restart" => {
            progress.phone_masked = None;
            Ok(SessionChange::Unchanged)
        }
        "sign_out" => sign_out(&app, &cookies).await,
        "passkey" => match (app.host.rates.count_page_view(address), next_page(&app, &progress)) {
            (Ok(()), Ok(next)) => return start_sign_in(&app, &cookies, &next).await,
            (Ok(()), Err(error)) => return failure_page(&error),
            (Err(failure), _) => Err(failure),
        },
        "end" => match find_session(&app, &cookies).await {
            Ok(Some(session)) => actions.revoke_agent(&session, field("agent")).await,
            Ok(None) => Err(Failure::new(ErrorCode::AuthenticationRequired)),
            Err(error) => Err(error.into()),
        },
        "allow" => match find_session(&app, &cookies).await {
            Ok(Some(session)) => match allow(&app, &progress.purpose, &session, address).await {
                Ok(response) => return response,
                Err(failure) => Err(failure),
            },
            // The session has ended meanwhile: the next page asks for the phone again.
            Ok(None) => Err(Failure::new(ErrorCode::AuthenticationRequired)),
            Err(error) => Err(error.into()),
        },
        "refuse" => {
            let session = find_session(&app, &cookies).await.ok().flatten();
            let owner_id = session.map(|session| session.owner_id);
            return refuse(&app, &progress.purpose, owner_id, address).await;
        }
        _ => return expired_page(),
    };
    let cookies = match result {
        Ok(SessionChange::Unchanged) => cookies,
        Ok(SessionChange::Started(cookie)) => cookies.set_session(cookie),
        Ok(SessionChange::Ended) => cookies.end_session(),
        Ok(SessionChange::NeedsPasskey(new)) => match next_page(&app, &progress) {
            Ok(next) => return start_second_factor(&app, &cookies, &new, &next).await,
            Err(error) => return failure_page(&error),
        },
        Err(failure) => {
            progress.problem = Some(failure.error_code.into_owned());
            cookies
        }
    };
    match next_page(&app, &progress) {
        Ok(next) => cookies.add_to(see_other(&next)),
        Err(error) => failure_page(&error),
    }
}

/// Returns the address of the page for the person's progress.
fn next_page(app: &App, progress: &SignInProgress) -> Result<String, IdentityError> {
    let steps = app.host.identity.sign_progress(progress)?;
    Ok(format!("{CONTINUE_PATH}?steps={steps}"))
}
