//! `/account/{capability}`: what a person has with one capability, and what they can do there without an agent.

use super::{
    budget::Budget,
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
        account_session::{signed_in, zone_of},
        browser::{Cookies, see_other},
        client::{Form, parameters},
        forms::{PageForm, PageRequest, failed, foreign_form, form_token},
        session::failure_page,
    },
    page::{FormTargets, page_of_text, unrendered},
};
use askama::Template;
use axum::{
    Extension,
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use futures_util::future::join_all;
use portolan_catalog::{Action, Capability, PersonPage, Snapshot};
use portolan_vocabulary::{ErrorCode, Failure, Zone};
use serde_json::Value;
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
    /// Whether there is more than fits on the page.
    is_cut: bool,
    zone: &'a Zone,
}

/// The contents of a page under one heading.
struct Section<'a> {
    title: &'a str,
    views: Vec<View<'a>>,
    /// The forms that are about no thing.
    forms: Vec<FormView>,
}

/// The answer of an action that reads.
struct View<'a> {
    title: &'a str,
    shown: Result<Shown, &'a Refused>,
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

/// The data of a page, when all that it shows has been read.
struct Contents {
    capability: Arc<Capability>,
    path: String,
    proof: String,
    form_token: String,
    done: Option<String>,
    /// The answer for each view, with the number of its part.
    views: Vec<(usize, Result<Value, Refused>)>,
    /// The form that was sent, and why it was refused.
    sent: Option<(PageForm, Refused)>,
    zone: Zone,
}

/// The parts of a request that show a page.
struct Request<'a> {
    calls: PersonCalls<'a>,
    snapshot: &'a Snapshot,
    capability: &'a Capability,
    /// The number of the view that begins at a cursor, and that cursor.
    cursor: Option<(&'a str, &'a str)>,
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
    let zone = match zone_of(&app, &session).await {
        Ok(zone) => zone,
        Err(error) => return failure_page(&error),
    };
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let of_query = |name: &str| query.get(name).map(String::as_str);
    let cursor = of_query("view").zip(of_query("cursor"));
    let request = Request { calls, snapshot: &snapshot, capability, cursor };
    let views = read_views(&request).await;
    let (form_token, cookies) = form_token(&app, cookies);
    let done = done(&app, &cookies, capability, &query).map(str::to_owned);
    let capability = Arc::clone(capability);
    let proof = session.proof;
    let contents = Contents { capability, path, proof, form_token, done, views, sent: None, zone };
    cookies.add_to(contents.respond(&app, StatusCode::OK).await)
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
    let calls = match PersonCalls::of(&app, &session, Arc::clone(&request_id), *address).await {
        Ok(calls) => calls,
        Err(error) => return failure_page(&error),
    };
    let called = match &declared.file {
        Some(file) => {
            let archive = Archive {
                capability: Arc::clone(capability),
                page: declared.clone(),
                file: file.clone(),
                input,
                request_id,
                address: *address,
                cookies: cookies.clone(),
            };
            archive.respond(Arc::clone(&app), &session).await
        }
        None if declared.confirm.is_some() && form.field(AGREED).is_empty() => {
            let message = "Nothing was done, because the box was not ticked.";
            Err(Failure::new(ErrorCode::ConfirmRequired).message(message))
        }
        None => {
            let done = calls.call(capability, name, input).await;
            done.map(|_output| see_other(&done_address(&app, cookies, capability, name)))
        }
    };
    let failure = match called {
        Ok(response) => return response,
        Err(failure) => failure,
    };
    let refused = Refused::of(&failure, &snapshot);
    let zone = match zone_of(&app, &session).await {
        Ok(zone) => zone,
        Err(error) => return failure_page(&error),
    };
    let request = Request { calls, snapshot: &snapshot, capability, cursor: None };
    let contents = Contents {
        capability: Arc::clone(capability),
        path,
        proof: session.proof,
        form_token: form.field("form_token").to_owned(),
        done: None,
        views: read_views(&request).await,
        sent: Some((form, refused)),
        zone,
    };
    let status = StatusCode::from_u16(failure.kind.http_status());
    contents.respond(&app, status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)).await
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

/// Reads what the views of a page show.
async fn read_views(request: &Request<'_>) -> Vec<(usize, Result<Value, Refused>)> {
    let views = request.capability.person_pages.iter().filter(|page| page.is_view());
    join_all(views.map(async |page| (page.number, read_view(request, page).await))).await
}

async fn read_view(request: &Request<'_>, page: &PersonPage) -> Result<Value, Refused> {
    let cursor = request
        .cursor
        .filter(|(view, _)| *view == page.number.to_string())
        .map(|(_, cursor)| cursor);
    let read = request.calls.read(request.capability, page, cursor).await;
    read.map_err(|failure| Refused::of(&failure, request.snapshot))
}

impl Contents {
    /// Answers with the page. It is rendered where long work delays no other request.
    async fn respond(self, app: &App, status: StatusCode) -> Response {
        match app.host.sandbox.compute(move || self.render()).await {
            Ok(text) => page_of_text(status, text, FormTargets::ThisHostWithScript),
            Err(error) => unrendered(&error),
        }
    }

    fn render(&self) -> Result<String, askama::Error> {
        let mut budget = Budget::of_page();
        let sections = self.sections(&mut budget);
        let shown = CapabilityPage {
            capability: &self.capability,
            path: &self.path,
            publisher: publisher(&self.capability),
            proof: &self.proof,
            form_token: &self.form_token,
            done: self.done.as_deref(),
            refused: self.sent.as_ref().map(|(_, refused)| refused),
            sections,
            is_cut: budget.is_spent(),
            zone: &self.zone,
        };
        shown.render()
    }

    /// Returns the sections of the page, in the order in which the capability declares them. The forms that are about
    /// no thing are the first in the budget, so that no number of things is in their way.
    fn sections(&self, budget: &mut Budget) -> Vec<Section<'_>> {
        let pages = &self.capability.person_pages;
        let mut sections: Vec<Section<'_>> = Vec::new();
        for page in pages {
            let is_known = sections.iter().any(|section| section.title == page.section);
            if !is_known {
                let title = page.section.as_str();
                sections.push(Section { title, views: Vec::new(), forms: Vec::new() });
            }
        }
        for page in pages.iter().filter(|page| !page.is_view() && page.of.is_none()) {
            let form = self.form(page, None, page.number.to_string(), budget);
            let section = sections.iter_mut().find(|section| section.title == page.section);
            if let Some((section, form)) = section.zip(form) {
                section.forms.push(form);
            }
        }
        for (number, read) in &self.views {
            let Some(page) = pages.iter().find(|page| page.number == *number) else { continue };
            let view = self.view(page, read, budget);
            let section = sections.iter_mut().find(|section| section.title == page.section);
            if let Some((section, view)) = section.zip(view) {
                section.views.push(view);
            }
        }
        sections
    }

    /// Returns what a view shows, with the forms about each thing.
    fn view<'a>(
        &'a self,
        page: &'a PersonPage,
        read: &'a Result<Value, Refused>,
        budget: &mut Budget,
    ) -> Option<View<'a>> {
        let action = self.capability.action(&page.action)?;
        let title = page.title.as_ref().unwrap_or(&action.descriptor.title).as_str();
        let shown = read.as_ref().map(|output| self.shown(page, action, output, budget));
        Some(View { title, shown })
    }

    fn shown(
        &self,
        page: &PersonPage,
        action: &Action,
        output: &Value,
        budget: &mut Budget,
    ) -> Shown {
        let found = Things::of(page, action.schemas.output.document(), output);
        let next = found.next_cursor.as_deref().map(|cursor| {
            let query = [("view", &*page.number.to_string()), ("cursor", cursor)];
            let query = serde_urlencoded::to_string(query).unwrap_or_default();
            format!("{}?{query}", self.path)
        });
        let mut shown = Shown { things: Vec::new(), next, has_more: found.has_more };
        for (number, thing) in found.things.into_iter().enumerate() {
            if !budget.admit(0, thing.bytes()) {
                shown.has_more = true;
                break;
            }
            let id = format!("{}-{number}", page.number);
            let forms = self.forms_about(&thing, &page.section, &id, budget);
            shown.things.push(ThingView { thing, forms });
        }
        shown
    }

    /// Returns the forms about a thing of a section.
    fn forms_about(
        &self,
        thing: &Thing,
        section: &str,
        id: &str,
        budget: &mut Budget,
    ) -> Vec<FormView> {
        let is_about = |page: &&PersonPage| {
            page.of.is_some() && page.section == section && thing.allows(&page.action)
        };
        let pages = self.capability.person_pages.iter().filter(is_about);
        let forms = pages.filter_map(|page| {
            self.form(page, Some(thing), format!("{id}-{}", page.number), budget)
        });
        forms.collect()
    }

    fn form(
        &self,
        page: &PersonPage,
        thing: Option<&Thing>,
        id: String,
        budget: &mut Budget,
    ) -> Option<FormView> {
        let action = self.capability.action(&page.action)?;
        // It counts before it is made, because to make it takes time.
        if !budget.admit(1, 0) {
            return None;
        }
        let sent = self.sent.as_ref().map(|(form, refused)| Sent { form, refused: Some(refused) });
        let form = FormView::new(page, action, thing, id, sent)?;
        let (inputs, bytes) = form.size();
        budget.admit(inputs, bytes).then_some(form)
    }
}
