//! Doors for agents and operators. The only room that knows axum and HTTP statuses.

mod admin;
mod agents;
mod answer;
mod call;
mod caller;
mod capabilities;
mod install;
mod metadata;
mod oauth;
mod openapi;
mod request_id;
mod serve;

pub use answer::Refusal;
pub use call::read_body;
pub use request_id::RequestId;
pub use serve::{Listening, serve};

use crate::invoke::Host;
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use std::sync::Arc;
use tower_http::compression::{
    CompressionLayer, Predicate as _,
    predicate::{NotForContentType, SizeAbove},
};

/// What every handler can reach.
#[derive(Debug)]
pub struct App {
    pub host: Arc<Host>,
    /// Where agents reach this host, without a slash at the end.
    pub public_url: String,
    pub openapi: openapi::Cache,
}

impl App {
    pub fn new(host: Arc<Host>, public_url: String) -> Arc<Self> {
        Arc::new(Self { host, public_url, openapi: openapi::Cache::default() })
    }
}

/// Smaller answers are sent as they are: compressing them costs more than it saves.
const COMPRESS_ABOVE_BYTES: u64 = 1400;

/// Every route for agents, further ones that a program built on this host adds, and the layers a
/// request passes, outermost last.
pub fn router(app: Arc<App>, more: Router) -> Router {
    let body_limit = app.host.sandbox.limits().call_input_bytes as usize;
    let compress = SizeAbove::new(COMPRESS_ABOVE_BYTES)
        .and(NotForContentType::const_new("application/octet-stream"));
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/openapi.json", get(openapi::document))
        .route("/.well-known/oauth-protected-resource", get(metadata::protected_resource))
        .route("/.well-known/oauth-authorization-server", get(metadata::authorization_server))
        .route("/v1/capabilities", get(capabilities::list))
        .route("/v1/capabilities/{id}/schema", get(capabilities::schema))
        .route("/v1/capabilities/{id}/call", post(call::call))
        .route("/v1/agents/register", post(agents::register))
        .route("/v1/install/install.sh", get(install::shell))
        .route("/v1/install/install.ps1", get(install::powershell))
        .route("/oauth/token", post(oauth::token::token))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .with_state(Arc::clone(&app))
        .merge(more)
        .layer(DefaultBodyLimit::max(body_limit))
        .layer(from_fn_with_state(app, answer::challenge))
        .layer(CompressionLayer::new().compress_when(compress))
        .layer(from_fn(request_id::assign))
}

/// Routes for the operator, on their own address.
pub fn admin_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/catalog", get(admin::catalog))
        .route("/audit", get(admin::audit))
        .route("/dead-letters", get(admin::dead_letters))
        .route("/dead-letters/replay", post(admin::replay))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(from_fn(request_id::assign))
        .with_state(app)
}
