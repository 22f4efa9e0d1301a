//! The operator's console: pages for a browser at the operator's address.
//!
//! It has no data and no power of its own: its pages show what the operator's routes answer to the operator who
//! has signed in, and its forms send requests to these routes, so roles and rows of the audit log are the same.
//!
//! - `state`: what its handlers reach; `api`: requests to the operator's routes
//! - `session`: the sessions of browsers; `visitor`: the operator of a request, and the proof of a form
//! - `gate`: the checks of every request; `failure`: a failure as a page
//! - `sign_in`, `decisions` with their `decision_table`: the forms; `frame`: what is around every page
//! - `overview`, `catalog`, `capability`, `calls`, `traces`, `events`, `document`, `reports`, `incidents`, `callers`,
//!   `feeds`, `audit`, `settings`: one page each; `reach`: who reaches whom; `figures`: numbers for people
//! - `live`: what a page shows, again whenever it changes

mod api;
mod audit;
mod callers;
mod calls;
mod capability;
mod catalog;
mod decision_table;
mod decisions;
mod document;
mod events;
mod failure;
mod feeds;
mod figures;
mod frame;
mod gate;
mod incidents;
mod live;
mod overview;
mod reach;
mod reports;
mod session;
mod settings;
mod sign_in;
mod state;
mod traces;
mod visitor;

use crate::{App, asset_routes, operator_routes::OperatorRoute};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{any, get, post},
};
use state::Console;
use std::sync::Arc;

/// The maximum number of bytes of a form.
const FORM_BYTES: usize = 64 << 10;
/// The same of a form that can have a document. Only operators who have signed in can send it.
const DOCUMENT_FORM_BYTES: usize = 1 << 20;

/// Returns the routes of the console. `api` answers at the operator's other routes, which are `table`.
pub(super) fn routes(app: &Arc<App>, api: Router, table: Vec<OperatorRoute>) -> Router {
    let console = Arc::new(Console::new(Arc::clone(app), api, table));
    let documents = DefaultBodyLimit::max(DOCUMENT_FORM_BYTES);
    Router::new()
        .route("/", get(sign_in::begin))
        .route("/console", get(overview::show))
        .route("/console/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/console/sign-out", post(sign_in::sign_out))
        .route("/console/decisions/{name}", post(decisions::decide).layer(documents))
        .route("/console/live/{page}", get(live::stream))
        .route("/console/catalog", get(catalog::show))
        .route("/console/catalog/{id}", get(capability::show))
        .route("/console/calls", get(calls::show))
        .route("/console/traces", get(traces::list))
        .route("/console/traces/{id}", get(traces::show))
        .route("/console/events", get(events::show))
        .route("/console/document", get(document::show).post(document::check).layer(documents))
        .route("/console/reports", get(reports::show))
        .route("/console/incidents", get(incidents::show))
        .route("/console/callers", get(callers::show))
        .route("/console/feeds", get(feeds::show))
        .route("/console/audit", get(audit::show))
        .route("/console/settings", get(settings::show))
        .route("/console/{*rest}", any(failure::no_such_page))
        .method_not_allowed_fallback(failure::no_such_method)
        .with_state(console)
        .merge(asset_routes::routes(app))
        .layer((from_fn_with_state(Arc::clone(app), gate::pass), DefaultBodyLimit::max(FORM_BYTES)))
}
