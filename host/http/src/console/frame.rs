//! The frame of every page of the console: the pages that the operator may see, and the operator's name.

use super::{
    decision_table::{self, DECISIONS},
    failure,
    state::Console,
    visitor::Visitor,
};
use crate::page::{FormTargets, page};
use askama::Template;
use axum::{
    http::{Method, StatusCode},
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;

/// A page in the navigation. `route` is the route of the operator without which it shows nothing.
struct PageRow {
    path: &'static str,
    title: &'static str,
    route: (Method, &'static str),
}

const fn row(path: &'static str, title: &'static str, route: (Method, &'static str)) -> PageRow {
    PageRow { path, title, route }
}

static PAGES: [PageRow; 11] = [
    row("/console", "Overview", (Method::GET, "/problems")),
    row("/console/catalog", "Catalog", (Method::GET, "/catalog")),
    row("/console/calls", "Calls", (Method::GET, "/calls")),
    row("/console/traces", "Traces", (Method::GET, "/traces")),
    row("/console/events", "Events", (Method::GET, "/timers")),
    row("/console/reports", "Reports", (Method::POST, "/capabilities/{id}/{action}")),
    row("/console/incidents", "Incidents", (Method::GET, "/incidents")),
    row("/console/callers", "Callers", (Method::GET, "/callers")),
    row("/console/feeds", "Feeds", (Method::GET, "/sources")),
    row("/console/audit", "Audit log", (Method::GET, "/audit")),
    row("/console/settings", "Settings", (Method::GET, "/settings")),
];

/// The query of a page to which a decision returns.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Done {
    #[serde(default)]
    done: String,
}

/// The data of the frame of a page.
pub(super) struct Frame {
    pub(super) operator: String,
    pub(super) role: &'static str,
    pub(super) form_token: String,
    pub(super) pages: Vec<NavigationItem>,
    /// The result of a decision, after the browser has returned here.
    pub(super) done: Option<&'static str>,
    permitted: Vec<&'static str>,
}

pub(super) struct NavigationItem {
    pub(super) path: &'static str,
    pub(super) title: &'static str,
    pub(super) is_current: bool,
}

impl Frame {
    /// Makes the frame of the page at `path`, which is the path of the page in the navigation.
    pub(super) fn new(console: &Console, visitor: &Visitor, path: &str, done: &Done) -> Self {
        let operator = &visitor.operator;
        let may = |method: &Method, route: &str| console.api.may(operator, method, route);
        let pages = PAGES.iter().filter(|row| may(&row.route.0, row.route.1));
        let permitted = DECISIONS.iter().filter(|decision| may(&decision.method, decision.route));
        Self {
            operator: operator.name.to_string(),
            role: operator.role.name(),
            form_token: console.app.host.identity.form_token(&visitor.cookie),
            pages: pages
                .map(|row| NavigationItem {
                    path: row.path,
                    title: row.title,
                    is_current: row.path == path,
                })
                .collect(),
            done: decision_table::find(&done.done).map(|decision| decision.done),
            permitted: permitted.map(|decision| decision.name).collect(),
        }
    }

    /// Returns whether the operator may make a decision. A page has no button for others.
    pub(super) fn may(&self, decision: &str) -> bool {
        self.permitted.contains(&decision)
    }
}

/// Renders a page of the console.
pub(super) fn shown<T: Template>(template: Result<T, Failure>) -> Response {
    match template {
        Ok(template) => page(StatusCode::OK, &template, FormTargets::Console),
        Err(refused) => failure::page_of(&refused),
    }
}

/// Renders a part of a page.
pub(super) fn rendered(template: &impl Template) -> Result<String, Failure> {
    template.render().map_err(|error| {
        tracing::error!(%error, "a part of a page cannot be rendered");
        Failure::new(ErrorCode::InternalError)
    })
}

/// Returns the path of a route with the parameters that are not empty.
pub(super) fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let given: Vec<_> = parameters.iter().filter(|(_, value)| !value.is_empty()).collect();
    match serde_urlencoded::to_string(given) {
        Ok(query) if !query.is_empty() => format!("{path}?{query}"),
        _ => path.to_owned(),
    }
}
