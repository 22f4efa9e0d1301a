//! `GET /docs/{capability}`: one capability for people: its actions with their fields, errors, events and a call
//! to paste, and its states.

use super::{
    diagram::Diagram,
    marked::Marked,
    snippets::{Snippet, body, curl, programs},
};
use crate::{
    App,
    caller::CapabilityId,
    conditional::tagged,
    page::{FormTargets, page_of_text},
    page_cache::PageKey,
    refusal::Refusal,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use portolan_catalog::{Action, Capability, Field, Side, fields};
use portolan_vocabulary::{
    Access, ActionDescriptor, Descriptor, ErrorCode, ErrorDeclaration, Failure, StateMachine,
};
use serde_json::Value;
use std::{borrow::Cow, sync::Arc};

/// How many fields of an input or output a page describes.
const MAX_FIELDS: usize = 100;
/// The name of these pages in the cache of pages.
const DOCS: &str = "docs";

#[derive(Template)]
#[template(path = "docs/capability.html")]
struct CapabilityPage<'a> {
    url: &'a str,
    descriptor: &'a Descriptor,
    description: Marked<'a>,
    tool: String,
    actions: Vec<ActionEntry<'a>>,
    machines: Vec<MachineEntry<'a>>,
    /// The errors that only this capability answers.
    errors: Vec<OwnError<'a>>,
    /// The mode of the agents that the page registers to try actions.
    mode: &'static str,
    can_try: bool,
}

struct ActionEntry<'a> {
    descriptor: &'a ActionDescriptor,
    description: Marked<'a>,
    input: Fields<'a>,
    output: Fields<'a>,
    errors: Vec<ErrorLink<'a>>,
    /// A call that can be pasted into a shell.
    call: String,
    /// The same call in the languages of programs.
    programs: [Snippet; 2],
    /// The input with which the page offers to try the action, if an anonymous agent may call it.
    trial: Option<String>,
}

/// A state machine, with its drawing as markup; `None` if it is too large for one.
struct MachineEntry<'a> {
    machine: &'a StateMachine,
    drawing: Option<String>,
}

/// The first fields of an input or output.
struct Fields<'a> {
    rows: Vec<Row<'a>>,
    has_more: bool,
}

struct Row<'a> {
    name: &'a str,
    is_required: bool,
    kind: Marked<'a>,
    limits: Marked<'a>,
    description: Marked<'a>,
}

/// An error code of an action, and the table with its meaning.
struct ErrorLink<'a> {
    code: &'a str,
    table: String,
}

struct OwnError<'a> {
    code: &'a str,
    status: u16,
    is_retryable: bool,
    description: Marked<'a>,
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    CapabilityId(id): CapabilityId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let snapshot = app.host.catalog.snapshot();
    let capability = Arc::clone(snapshot.find(&id, app.host.clock.now())?);
    let key = PageKey {
        publication: DOCS.to_owned(),
        catalog: snapshot.version,
        feed: DOCS,
        id: capability.id.to_string(),
    };
    let forms = match capability.callable().any(|action| can_try(&capability, action)) {
        true => FormTargets::ThisHostWithScript,
        false => FormTargets::ThisHost,
    };
    let text = match app.pages.get(&key).await {
        Some(page) => page.to_string(),
        None => {
            let url = app.public_url.clone();
            let mode = if app.host.identity.has_test_mode() { "test" } else { "live" };
            // The schemas of a component can be large.
            let rendered = app.host.sandbox.compute(move || render(&capability, &url, mode)).await;
            let text = rendered.map_err(|error| {
                tracing::error!(%error, "the page of a capability cannot be rendered");
                Failure::new(ErrorCode::InternalError)
            })?;
            app.pages.insert(key, &text).await;
            text
        }
    };
    Ok(tagged(&headers, text, |text| page_of_text(StatusCode::OK, text, forms)))
}

fn render(capability: &Capability, url: &str, mode: &'static str) -> Result<String, askama::Error> {
    let descriptor = &capability.descriptor;
    let own_errors = descriptor.errors.iter().filter(|error| !is_common(&error.code));
    let machines = descriptor.state_machines.iter().map(MachineEntry::new);
    let page = CapabilityPage {
        url,
        descriptor,
        description: Marked::of(&descriptor.description),
        tool: capability.tool_name(),
        actions: capability
            .callable()
            .map(|action| ActionEntry::new(action, url, capability))
            .collect(),
        machines: machines.collect::<Result<_, _>>()?,
        errors: own_errors.map(OwnError::new).collect(),
        mode,
        can_try: capability.callable().any(|action| can_try(capability, action)),
    };
    page.render()
}

/// Returns whether an agent that nobody has claimed may call an action, and the call changes nothing.
fn can_try(capability: &Capability, action: &Action) -> bool {
    matches!(action.descriptor.access, Access::Read | Access::Open) && capability.only_reads(action)
}

fn is_common(code: &str) -> bool {
    ErrorCode::from_name(code).is_some()
}

impl<'a> ActionEntry<'a> {
    fn new(action: &'a Action, url: &str, capability: &'a Capability) -> Self {
        let descriptor = &action.descriptor;
        let link = |code: &'a String| ErrorLink {
            code,
            table: match is_common(code) {
                true => format!("/docs/errors#{code}"),
                false => format!("#error-{code}"),
            },
        };
        let url = format!("{url}/v1/capabilities/{}/call", capability.id);
        let body = body(descriptor);
        Self {
            descriptor,
            description: Marked::of(&descriptor.description),
            input: Fields::new(action, Side::Input),
            output: Fields::new(action, Side::Output),
            errors: descriptor.errors.iter().map(link).collect(),
            call: curl(&url, &body),
            programs: programs(&url, &body),
            trial: can_try(capability, action).then(|| input(&body)),
        }
    }

    /// Returns who may call the action.
    fn callers(&self) -> &'static str {
        match self.descriptor.access {
            Access::Read | Access::Events => "any agent, with the scope",
            Access::Write => "a claimed agent, with the scope",
            Access::Open => "any agent",
            Access::Internal => "other capabilities",
        }
    }
}

impl<'a> MachineEntry<'a> {
    fn new(machine: &'a StateMachine) -> Result<Self, askama::Error> {
        let drawing = Diagram::of(machine).map(|diagram| diagram.render()).transpose()?;
        Ok(Self { machine, drawing })
    }
}

impl<'a> Fields<'a> {
    fn new(action: &'a Action, side: Side) -> Self {
        let mut all = fields(action, side);
        let rows = all.by_ref().take(MAX_FIELDS).map(Row::new).collect();
        Self { rows, has_more: all.next().is_some() }
    }
}

impl<'a> Row<'a> {
    fn new(field: Field<'a>) -> Self {
        let limits = field.limits.trim_start_matches([' ', ',']).to_owned();
        Self {
            name: field.name,
            is_required: field.is_required,
            kind: Marked(Cow::Owned(field.kind)),
            limits: Marked(Cow::Owned(limits)),
            description: Marked::of(field.description),
        }
    }
}

impl<'a> OwnError<'a> {
    fn new(error: &'a ErrorDeclaration) -> Self {
        Self {
            code: &error.code,
            status: error.kind.http_status(),
            is_retryable: error.retryable,
            description: Marked::of(&error.description),
        }
    }
}

/// Returns the input of a call without the name of its action.
fn input(body: &Value) -> String {
    let mut input = body.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.remove("action");
    }
    format!("{input:#}")
}
