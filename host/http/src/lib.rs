//! Doors for agents and operators. The only room that knows axum and HTTP statuses.

mod address;
mod admin;
mod agents;
mod answer;
mod body;
mod call;
mod caller;
mod capabilities;
mod coding;
mod conditional;
mod doors;
mod events;
mod feeds;
mod handoff;
mod install;
mod map;
mod mcp;
mod metadata;
mod metrics;
mod oauth;
mod openapi;
mod request_id;
mod serve;
mod sms;
mod wire;

pub use address::Proxies;
pub use answer::Refusal;
pub use call::read_body;
pub use doors::Doors;
pub use request_id::RequestId;
pub use serve::{Listening, accept, serve};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use portolan_mcp::{Mcp, McpSettings, ServerHandler, Service};
use portolan_pipeline::Host;
use std::{sync::Arc, time::Duration};
use tower_http::{
    compression::{
        CompressionLayer, Predicate as _,
        predicate::{NotForContentType, SizeAbove},
    },
    cors::{AllowHeaders, Any, CorsLayer},
};

/// What every handler can reach.
#[derive(Debug)]
pub struct App {
    pub host: Arc<Host>,
    /// Where agents reach this host, without a slash at the end.
    pub public_url: String,
    /// Proxies that are believed about whom they forward.
    pub proxies: Proxies,
    pub openapi: openapi::Cache,
    pub mcp: Arc<Mcp>,
}

impl App {
    pub fn new(
        host: Arc<Host>,
        public_url: String,
        proxies: Proxies,
        settings: McpSettings,
    ) -> Arc<Self> {
        let pages = metadata::pages(&host, &public_url);
        let mcp = Mcp::new(Arc::clone(&host), public_url.clone(), pages, settings);
        Arc::new(Self { host, public_url, proxies, openapi: openapi::Cache::default(), mcp })
    }
}

/// Smaller answers are sent as they are: compressing them costs more than it saves.
const COMPRESS_ABOVE_BYTES: u64 = 1400;
/// How long a browser may remember that it may ask.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3600);

/// All that agents reach: the feeds, what answers at `/mcp`, every other route, and further ones that a
/// program built on this host adds.
pub fn doors<S: ServerHandler + Send + 'static>(
    app: Arc<App>,
    mcp: Service<S>,
    more: Router,
) -> Doors {
    Doors { feeds: Some(Arc::clone(&app.host.feeds)), routes: router(app, mcp, more) }
}

/// Every route for agents, and the layers a request passes, outermost first.
fn router<S: ServerHandler + Send + 'static>(
    app: Arc<App>,
    mcp: Service<S>,
    more: Router,
) -> Router {
    let body_limit = app.host.sandbox.limits().call_input_bytes as usize;
    let compress = SizeAbove::new(COMPRESS_ABOVE_BYTES)
        .and(NotForContentType::const_new("application/octet-stream"))
        .and(NotForContentType::SSE);
    // Programs in browsers may ask these; the page for people is not among them.
    let open = Router::new()
        .route("/openapi.json", get(openapi::document))
        .route("/auth.md", get(metadata::auth_guide))
        .route("/llms.txt", get(metadata::overview))
        .route("/.well-known/api-catalog", get(metadata::api_catalog))
        .route("/.well-known/jwks.json", get(metadata::keys))
        .route("/.well-known/oauth-protected-resource", get(metadata::protected_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata::protected_mcp))
        .route("/.well-known/oauth-authorization-server", get(metadata::authorization_server))
        .route("/v1/capabilities", get(capabilities::list))
        .route("/v1/capabilities/{id}/schema", get(capabilities::schema))
        .route("/v1/capabilities/{id}/call", post(call::call))
        .route("/v1/agents/register", post(agents::register))
        .route("/v1/agent-events/stream", get(events::stream))
        .route("/v1/agent-events/ack", post(events::acknowledge))
        .route("/v1/agent-events/webhooks", get(events::webhooks).post(events::create_webhook))
        .route(
            "/v1/agent-events/webhooks/{id}",
            get(events::webhook).delete(events::delete_webhook),
        )
        .route("/v1/install/install.sh", get(install::shell))
        .route("/v1/install/install.ps1", get(install::powershell))
        .route("/oauth/token", post(oauth::token::token))
        .route("/oauth/revoke", post(oauth::token::revoke))
        .route("/oauth/introspect", post(oauth::token::introspect))
        .route("/oauth/register", post(oauth::register::register))
        .route(
            "/oauth/register/{client_id}",
            get(oauth::register::read).put(oauth::register::update).delete(oauth::register::delete),
        )
        .method_not_allowed_fallback(answer::no_such_method)
        .merge(self::mcp::routes(&app, mcp))
        .with_state(Arc::clone(&app))
        .merge(more)
        .layer(any_origin());
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/v1/sms/reports/{id}", post(sms::report))
        .route("/handoff/{token}", get(handoff::show))
        .route("/oauth/authorize", get(oauth::authorize::begin))
        .route(
            "/oauth/authorize/continue",
            get(oauth::authorize::go_on).post(oauth::authorize::step),
        )
        .route("/oauth/authorize/style.css", get(oauth::authorize::style))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .with_state(Arc::clone(&app))
        .merge(open)
        // At once: each layer by itself would be another piece of memory for every request.
        .layer((
            from_fn(request_id::assign),
            CompressionLayer::new().compress_when(compress),
            from_fn_with_state(Arc::clone(&app), answer::challenge),
            DefaultBodyLimit::max(body_limit),
        ))
        .merge(feeds::routes())
        .merge(map::routes())
}

/// No cookie counts here, so a page of any origin may ask.
fn any_origin() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(Any)
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(PREFLIGHT_AGE)
}

/// Routes for the operator, on their own address.
pub fn admin_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(metrics::metrics))
        .route("/catalog", get(admin::catalog))
        .route("/audit", get(admin::audit))
        .route("/dead-letters", get(admin::dead_letters))
        .route("/dead-letters/replay", post(admin::replay))
        .route("/capabilities/{id}/{action}", post(admin::operate))
        .route("/keys", get(metadata::keys))
        .route("/keys/rotate", post(admin::rotate_keys))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(from_fn(request_id::assign))
        .with_state(app)
}
