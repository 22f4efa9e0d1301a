//! `/handoff/{token}/result`: what a person has sent from the page of a handoff, and where they find it.

use super::{
    address::{Token, result_of},
    draft::Drafted,
    visitor::Visitor,
};
use crate::{
    App, RequestId,
    oauth::{
        account_session::signed_in,
        client::parameters,
        forms::{PageRequest, failed},
        person::things::{Thing, Things, at},
        session::failure_page,
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    Extension,
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure, Zone};
use serde_json::Value;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "person/handoff_result.html")]
struct ResultPage<'a> {
    /// The action that was done, in the words of the button.
    title: &'a str,
    /// The thing that was made, as the person's own page shows it; `None` if it cannot be shown
    /// now.
    made: Option<Thing>,
    /// The capability's name, its page, and the heading there.
    capability: &'a str,
    account_path: String,
    section: &'a str,
    zone: &'a Zone,
}

/// Shows what was sent.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    PageRequest { cookies, address, .. }: PageRequest,
    Token(token): Token,
    RawQuery(query): RawQuery,
) -> Response {
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let Some([id, name, made]) = result_of(&app, &cookies, &token, &query) else {
        return failed(&Failure::new(ErrorCode::NotFound));
    };
    let snapshot = app.host.catalog.snapshot();
    let capability = match snapshot.find(id, app.host.clock.now()) {
        Ok(capability) => capability,
        Err(failure) => return failed(&failure),
    };
    let Some(drafted) = Drafted::of(capability, name) else {
        return failed(&Failure::new(ErrorCode::NotFound));
    };
    let account_path = drafted.account_path();
    let session = match signed_in(&app, &cookies, &account_path).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let person = match Visitor::of(&app, session, request_id, address).await {
        Ok(person) => person,
        Err(error) => return failure_page(&error),
    };
    let shown = ResultPage {
        title: drafted.title(),
        made: find_made(&person, &drafted, made).await,
        capability: &capability.descriptor.title,
        account_path,
        section: &drafted.page.section,
        zone: &person.zone,
    };
    page(StatusCode::OK, &shown, FormTargets::ThisHostWithScript)
}

/// Reads what was made, among what the person's own page shows.
async fn find_made(person: &Visitor<'_>, drafted: &Drafted<'_>, made: &str) -> Option<Thing> {
    let view = drafted.view()?;
    let path = drafted.page.draft.as_ref()?.made.as_deref()?;
    let action = drafted.capability.action(&view.action)?;
    let output = person.calls.read(drafted.capability, view, None).await.ok()?;
    let found = Things::of(view, action.schemas.output.document(), &output);
    found
        .things
        .into_iter()
        .find(|thing| at(&thing.value, path).and_then(Value::as_str).is_some_and(|id| id == made))
}
