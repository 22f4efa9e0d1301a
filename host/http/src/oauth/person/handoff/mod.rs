//! The pages of handoffs: what a call that is drafted on the map would do, and the form with which a person makes it
//! without an agent.
//!
//! - `resolve`: what the capability of the role `handoffs` says of an address
//! - `address`: the addresses of these pages, and the proof that something was sent
//! - `draft`: the action that a draft calls, with its form
//! - `send`: the call of a draft, once however often it is sent
//! - `shown`: the page of a handoff
//! - `refused`: the pages of addresses that are not valid any more
//! - `result`: what was made from a draft
//! - `visitor`: a person who has signed in
//!
//! `GET /handoff/{token}` changes nothing: a person sees the page, an agent gets JSON. The person signs in, and
//! sends the form; an agent redeems the address and makes the call through capabilities. The first of the two uses
//! the address up. `GET /map/handoffs/{handoff_id}/{record_id}` makes such an address from a record of the map.

mod address;
mod draft;
mod refused;
mod resolve;
mod result;
mod send;
mod shown;
mod visitor;

pub(crate) use result::show as show_result;

use crate::{
    App, Refusal, RequestId,
    address::ClientAddress,
    oauth::{
        account_session::{begin_sign_in, signed_in},
        browser::{Cookies, see_other},
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
        person::refused::Refused,
        session::{failure_page, find_session},
    },
};
use address::{Token, path};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use axum_extra::extract::CookieJar;
use draft::Drafted;
use portolan_vocabulary::{ErrorCode, Failure};
use refused::stop;
use resolve::{begin_again, preview, resolve};
use send::{Sending, send};
use shown::{Handoff, Outcome, Person, SHOWN};
use std::sync::Arc;
use visitor::Visitor;

/// The headers that keep the token out of caches and `Referer` headers.
const PRIVATE_HEADERS: [(header::HeaderName, &str); 3] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// Redirects to a new address of the handoff that begins at this record.
pub(crate) async fn begin(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    ids: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let result = match (app.host.rates.count_page_view(address), ids) {
        (Ok(()), Ok(Path((handoff_id, record_id)))) => resolve(&app, &handoff_id, &record_id).await,
        (Err(failure), _) => Err(failure),
        (Ok(()), Err(_)) => Err(Failure::new(ErrorCode::NotFound)),
    };
    match result {
        Ok(token) => see_other(&path(&token)),
        Err(failure) if wants_html(&headers) => stop(&failure),
        Err(failure) => refusal(failure),
    }
}

/// Shows a handoff: its page to a person, JSON to an agent.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    ClientAddress(address): ClientAddress,
    Token(token): Token,
    headers: HeaderMap,
) -> Response {
    if let Err(failure) = app.host.rates.count_page_view(address) {
        return if wants_html(&headers) { failed(&failure) } else { refusal(failure) };
    }
    if !wants_html(&headers) {
        return match preview(&app, &token).await {
            Ok(found) => (PRIVATE_HEADERS, Json(found.answer)).into_response(),
            Err(failure) => refusal(failure),
        };
    }
    let cookies = Cookies::new(CookieJar::from_headers(&headers), &app);
    let person = match find_session(&app, &cookies).await {
        Ok(Some(session)) => Visitor::of(&app, session, request_id, address).await.map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let person = match person {
        Ok(person) => person,
        Err(error) => return failure_page(&error),
    };
    let found = match preview(&app, &token).await {
        Ok(found) => found,
        Err(failure) => return stopped(&app, &token, failure, person.as_ref()).await,
    };
    // A visitor who has not signed in gets no cookie.
    let (form_token, cookies) = match &person {
        Some(_) => form_token(&app, cookies),
        None => (String::new(), cookies),
    };
    let handoff = Handoff::of(
        &app,
        &token,
        &found,
        person.as_ref().map(|person| Person {
            session: &person.session,
            zone: &person.zone,
            test_mode: person.calls.test_mode(),
            form_token: &form_token,
        }),
    );
    cookies.add_to(handoff.await.respond(StatusCode::OK, &Outcome::Nothing, None))
}

/// Begins the sign-in that leads back to the page of a handoff.
pub(crate) async fn sign_in(
    State(app): State<Arc<App>>,
    PageRequest { cookies, .. }: PageRequest,
    Token(token): Token,
) -> Response {
    match (find_session(&app, &cookies).await, preview(&app, &token).await) {
        (Ok(Some(_)), _) => see_other(&path(&token)),
        (Ok(None), Ok(found)) => {
            begin_sign_in(&app, &cookies, &path(&token), Some(found.preview.title)).await
        }
        (Ok(None), Err(failure)) => stop(&failure),
        (Err(error), _) => failure_page(&error),
    }
}

/// Carries out the form of a handoff: tries the call, or makes it.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    Token(token): Token,
    form: PageForm,
) -> Response {
    let PageRequest { cookies, address, .. } = &form.request;
    let session = match signed_in(&app, cookies, &path(&token)).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let person = match Visitor::of(&app, session, request_id, *address).await {
        Ok(person) => person,
        Err(error) => return failure_page(&error),
    };
    let (token, found, is_renewed) = match preview(&app, &token).await {
        Ok(found) => (token, found, false),
        Err(failure) => match begin_again(&app, &failure).await {
            Some((token, found)) => (token, found, true),
            None => return stopped(&app, &token, failure, Some(&person)).await,
        },
    };
    let snapshot = app.host.catalog.snapshot();
    let Some(drafted) = Drafted::find(&app, &snapshot, &found.preview.draft) else {
        return foreign_form();
    };
    let sending = Sending { app: &app, calls: &person.calls, drafted: &drafted, token: &token };
    let is_as_shown = form.field(SHOWN) == drafted.digest(&found.preview.draft);
    // The typed text is kept, and is sent only when the person confirms again.
    let outcome = match (is_renewed, is_as_shown) {
        (true, _) => Ok(Outcome::Renewed),
        (false, false) => Ok(Outcome::Changed),
        (false, true) if !drafted.is_sent(&form) => return foreign_form(),
        (false, true) => send(&sending, &found.preview, &form).await,
    };
    let (status, outcome) = match outcome {
        Ok(Outcome::Sent { made }) => {
            return see_other(&address::result_path(&app, cookies, &token, &drafted, &made));
        }
        Ok(outcome) => (StatusCode::OK, outcome),
        Err(failure) => {
            let status = StatusCode::from_u16(failure.kind.http_status());
            let refused = Refused::of(&failure, &snapshot);
            (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Outcome::Refused(refused))
        }
    };
    let person = Person {
        session: &person.session,
        zone: &person.zone,
        test_mode: person.calls.test_mode(),
        form_token: form.field("form_token"),
    };
    Handoff::of(&app, &token, &found, Some(person)).await.respond(status, &outcome, Some(&form))
}

/// Returns the page for an address that is not valid. A person who has redeemed it is told so.
async fn stopped(
    app: &App,
    token: &str,
    failure: Failure,
    person: Option<&Visitor<'_>>,
) -> Response {
    let Some(person) = person else { return stop(&failure) };
    match resolve::preview_as(app, token, &person.calls).await {
        Err(own) if own.error_code == failure.error_code => stop(&own),
        _ => stop(&failure),
    }
}

fn refusal(failure: Failure) -> Response {
    (PRIVATE_HEADERS, Refusal(failure)).into_response()
}

/// Returns whether the client is a browser. Agents get JSON.
fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}
