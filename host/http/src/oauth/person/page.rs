//! `/account/{capability}`: what a person has with one capability, and what they can do there without an agent.

use super::{
    calls::PersonCalls,
    file::Archive,
    forms::{AGREED, FormView, InputView, Sent, input, is_sent},
    glance::publisher,
    refused::Refused,
    things::{Thing, Things},
};
use crate::{
    App, RequestId,
    caller::CapabilityId,
    oauth::{
        account_session::signed_in,
        browser::{Cookies, see_other},
        client::{Form, parameters},
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
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
use futures_util::future::join_all;
use portolan_catalog::{Capability, PersonPage, Snapshot};
use portolan_vocabulary::{ErrorCode, Failure};
use std::sync::Arc;

#[derive(Template)]
#[template(path = "person/page.html")]
struct CapabilityPage<'a> {
    capability: &'a Capability,
    path: &'a str,
    publisher: Option<String>,
    proof: &'a str,
    form_token: &'a str,
    /// The title of the action that was carried out just now.
    done: Option<&'a str>,
    refused: Option<&'a Refused>,
    sections: Vec<Section<'a>>,
}

/// What a page has under one heading.
struct Section<'a> {
    title: &'a str,
    views: Vec<View<'a>>,
    /// The forms that are about no thing.
    forms: Vec<FormView>,
}

/// What an action that reads has answered.
struct View<'a> {
    title: &'a str,
    shown: Result<Shown, Refused>,
}

struct Shown {
    things: Vec<ThingView>,
    /// The address of the things that follow.
    next: Option<String>,
    has_more: bool,
}

/// A thing with the forms about it.
struct ThingView {
    thing: Thing,
    forms: Vec<FormView>,
}

/// The parts of a request that show a page.
struct Request<'a> {
    calls: PersonCalls<'a>,
    snapshot: &'a Snapshot,
    capability: &'a Capability,
    /// The number of the view that begins at a cursor, and that cursor.
    cursor: Option<(&'a str, &'a str)>,
    sent: Option<Sent<'a>>,
}

/// Shows what the person has with a capability.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    PageRequest { cookies, address, .. }: PageRequest,
    CapabilityId(id): CapabilityId,
    RawQuery(query): RawQuery,
) -> Response {
    let snapshot = app.host.catalog.snapshot();
    let capability = match find(&app, &snapshot, &id) {
        Ok(capability) => capability,
        Err(failure) => return failed(&failure),
    };
    let path = path_of(capability);
    let session = match signed_in(&app, &cookies, &path).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    let calls = match PersonCalls::of(&app, &session, request_id, address).await {
        Ok(calls) => calls,
        Err(error) => return failure_page(&error),
    };
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let of_query = |name: &str| query.get(name).map(String::as_str);
    let cursor = of_query("view").zip(of_query("cursor"));
    let request = Request { calls, snapshot: &snapshot, capability, cursor, sent: None };
    let sections = sections(&request).await;
    let (form_token, cookies) = form_token(&app, cookies);
    let shown = CapabilityPage {
        capability,
        path: &path,
        publisher: publisher(capability),
        proof: &session.proof,
        form_token: &form_token,
        done: done(&app, &cookies, capability, &query),
        refused: None,
        sections,
    };
    cookies.add_to(page(StatusCode::OK, &shown, FormTargets::ThisHost))
}

/// Carries out a form of the page: runs its action in the person's name.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    CapabilityId(id): CapabilityId,
    form: PageForm,
) -> Response {
    let PageRequest { cookies, address, .. } = &form.request;
    let snapshot = app.host.catalog.snapshot();
    let capability = match find(&app, &snapshot, &id) {
        Ok(capability) => capability,
        Err(failure) => return failed(&failure),
    };
    let path = path_of(capability);
    let session = match signed_in(&app, cookies, &path).await {
        Ok(session) => session,
        Err(page) => return *page,
    };
    // Only what the capability has declared can be called here.
    let name = form.field("action");
    let is_sent = |page: &&PersonPage| !page.is_view() && is_sent(page, &form);
    let declared = capability.person_pages.iter().find(is_sent);
    let Some((declared, action)) = declared.zip(capability.action(name)) else {
        return foreign_form();
    };
    let input = input(declared, action, &form);
    if let Some(file) = &declared.file {
        let archive = Archive {
            capability: Arc::clone(capability),
            page: declared.clone(),
            file: file.clone(),
            input,
            request_id,
            address: *address,
        };
        let responded = archive.respond(Arc::clone(&app), session).await;
        return responded.unwrap_or_else(|failure| failed(&failure));
    }
    let calls = match PersonCalls::of(&app, &session, request_id, *address).await {
        Ok(calls) => calls,
        Err(error) => return failure_page(&error),
    };
    let called = match declared.confirm.is_some() && form.field(AGREED).is_empty() {
        true => {
            let message = "Nothing was done, because the box was not ticked.";
            Err(Failure::new(ErrorCode::ConfirmRequired).message(message))
        }
        false => calls.call(capability, name, input).await,
    };
    let failure = match called {
        Ok(_) => return see_other(&done_address(&app, cookies, capability, name)),
        Err(failure) => failure,
    };
    let refused = Refused::of(&failure, &snapshot);
    let sent = Some(Sent { form: &form, refused: &refused });
    let request = Request { calls, snapshot: &snapshot, capability, cursor: None, sent };
    let sections = sections(&request).await;
    let shown = CapabilityPage {
        capability,
        path: &path,
        publisher: publisher(capability),
        proof: &session.proof,
        form_token: form.field("form_token"),
        done: None,
        refused: Some(&refused),
        sections,
    };
    let status = StatusCode::from_u16(failure.kind.http_status());
    page(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &shown, FormTargets::ThisHost)
}

/// Finds a capability that has a page for people.
fn find<'a>(app: &App, snapshot: &'a Snapshot, id: &str) -> Result<&'a Arc<Capability>, Failure> {
    let capability = snapshot.find(id, app.host.clock.now())?;
    match capability.person_pages.is_empty() {
        true => Err(Failure::new(ErrorCode::NotFound)),
        false => Ok(capability),
    }
}

fn path_of(capability: &Capability) -> String {
    format!("/account/{}", capability.id)
}

/// Returns the secret of a browser from which the proof of a carried out action is made.
fn done_secret(cookies: &Cookies, capability: &Capability, action: &str) -> String {
    format!("{} did {} {action}", cookies.browser().unwrap_or_default(), capability.id)
}

/// Returns the address of the page that says that an action was carried out. Nobody else can make such an address
/// for this browser.
fn done_address(app: &App, cookies: &Cookies, capability: &Capability, action: &str) -> String {
    let proof = app.host.identity.form_token(&done_secret(cookies, capability, action));
    format!("{}?done={action}&proof={proof}", path_of(capability))
}

/// Returns the title of the action that was carried out, as the address says, if this host has made it.
fn done<'a>(
    app: &App,
    cookies: &Cookies,
    capability: &'a Capability,
    query: &Form,
) -> Option<&'a str> {
    let (name, proof) = (query.get("done")?, query.get("proof")?);
    let secret = done_secret(cookies, capability, name);
    let is_own = app.host.identity.is_form_token(proof, &secret);
    let action = capability.action(name).filter(|_| is_own)?;
    let declared = capability.person_pages.iter().find(|page| page.action == *name);
    Some(declared.and_then(|page| page.title.as_ref()).unwrap_or(&action.descriptor.title))
}

/// Returns the sections of a page, in the order in which the capability declares them.
async fn sections<'a>(request: &Request<'a>) -> Vec<Section<'a>> {
    let pages = &request.capability.person_pages;
    let views = pages.iter().filter(|page| page.is_view());
    let views = join_all(views.map(async |page| (page, view(request, page).await))).await;
    let mut sections: Vec<Section<'a>> = Vec::new();
    for page in pages {
        let is_known = sections.iter().any(|section| section.title == page.section);
        if !is_known {
            sections.push(Section { title: &page.section, views: Vec::new(), forms: Vec::new() });
        }
    }
    let mut forms: Vec<_> = pages
        .iter()
        .filter(|page| !page.is_view() && page.of.is_none())
        .filter_map(|page| Some((page, form(request, page, None, &page.number.to_string())?)))
        .collect();
    let mut views: Vec<_> =
        views.into_iter().filter_map(|(page, view)| Some((page, view?))).collect();
    for section in &mut sections {
        let is_in = |page: &PersonPage| page.section == section.title;
        section.views.extend(views.extract_if(.., |(page, _)| is_in(page)).map(|(_, view)| view));
        section.forms.extend(forms.extract_if(.., |(page, _)| is_in(page)).map(|(_, form)| form));
    }
    sections
}

/// Reads what a view shows, with the forms about each thing.
async fn view<'a>(request: &Request<'a>, page: &'a PersonPage) -> Option<View<'a>> {
    let action = request.capability.action(&page.action)?;
    let title = page.title.as_ref().unwrap_or(&action.descriptor.title).as_str();
    let cursor = request
        .cursor
        .filter(|(view, _)| *view == page.number.to_string())
        .map(|(_, cursor)| cursor);
    let read = request.calls.read(request.capability, page, cursor).await;
    let shown = match read {
        Ok(output) => Ok(shown(request, page, &output)),
        Err(failure) => Err(Refused::of(&failure, request.snapshot)),
    };
    Some(View { title, shown })
}

fn shown(request: &Request<'_>, page: &PersonPage, output: &serde_json::Value) -> Shown {
    let found = Things::of(page, output);
    let next = found.next_cursor.as_deref().map(|cursor| {
        let query = [("view", &*page.number.to_string()), ("cursor", cursor)];
        let query = serde_urlencoded::to_string(query).unwrap_or_default();
        format!("{}?{query}", path_of(request.capability))
    });
    let with_forms = |(number, thing): (usize, Thing)| {
        let is_about = |other: &&PersonPage| {
            other.of.is_some() && other.section == page.section && thing.allows(&other.action)
        };
        let forms = request.capability.person_pages.iter().filter(is_about);
        let forms = forms.filter_map(|about| {
            let id = format!("{}-{number}-{}", page.number, about.number);
            form(request, about, Some(&thing), &id)
        });
        let forms = forms.collect();
        ThingView { thing, forms }
    };
    let things = found.things.into_iter().enumerate().map(with_forms).collect();
    Shown { things, next, has_more: found.has_more }
}

fn form(
    request: &Request<'_>,
    page: &PersonPage,
    thing: Option<&Thing>,
    id: &str,
) -> Option<FormView> {
    let action = request.capability.action(&page.action)?;
    Some(FormView::new(page, action, thing, id.to_owned(), request.sent))
}
