//! Every route, and the layers around them.

use crate::{
    App, admin, admission::count_request, agents, asset_routes, audit_export, call, capabilities,
    capabilities::AsItIs, challenge, city_routes, console, cors, dispatcher::Dispatcher, docs,
    events, feeds, front, install, map, mcp, media, metadata, oauth, openapi, operator_gate,
    operator_gate::OperatorGate, operator_routes, operator_routes::Handled, published, refusal,
    request_id, sitemap, sms, status,
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::{Extensions, HeaderMap, StatusCode, Version},
    middleware::from_fn_with_state,
    routing::{get, post, put},
};
use portolan_mcp::{ServerHandler, Service};
use std::sync::Arc;
use tower_http::compression::{
    CompressionLayer, CompressionLevel, Predicate as _,
    predicate::{NotForContentType, SizeAbove},
};

/// Smaller responses are not compressed, because that costs more than it saves.
const COMPRESS_ABOVE_BYTES: u64 = 1400;

/// Returns the service for agents: the feeds, `/mcp`, the routes of this crate, and the `extra_routes` of a
/// program that is built on this host.
pub fn dispatcher<S: ServerHandler + Send + 'static>(
    app: Arc<App>,
    service: Service<S>,
    extra_routes: Router,
) -> Dispatcher {
    let (cities, clock) = (app.host.cities().cloned().collect(), app.host.clock.clone());
    let routes = router(app, service, extra_routes);
    Dispatcher { cities, routes, clock, has_error_pages: true }
}

/// Returns every route of the public address, with the layers that a request passes, the outermost
/// first.
fn router<S: ServerHandler + Send + 'static>(
    app: Arc<App>,
    service: Service<S>,
    extra_routes: Router,
) -> Router {
    let body_limit = app.host.sandbox.limits().call_input_bytes as usize;
    let compress = SizeAbove::new(COMPRESS_ABOVE_BYTES)
        .and(NotForContentType::const_new("application/octet-stream"))
        .and(NotForContentType::SSE)
        .and(|_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions| {
            extensions.get::<AsItIs>().is_none()
        });
    // Scripts of any origin may use these routes. The sign-in pages are not among them.
    let cross_origin = Router::new()
        .route("/", get(front::show))
        .route("/openapi.json", get(openapi::document))
        .route("/status", get(status::show))
        .route("/status.atom", get(status::atom))
        .route("/auth.md", get(metadata::auth_guide))
        .route("/llms.txt", get(metadata::overview))
        .route("/.well-known/api-catalog", get(metadata::api_catalog))
        .route("/.well-known/jwks.json", get(metadata::keys))
        .route("/.well-known/audit-keys.json", get(audit_export::keys))
        .route("/.well-known/oauth-protected-resource", get(metadata::protected_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata::protected_mcp))
        .route("/.well-known/oauth-protected-resource/mcp/{*view}", get(metadata::protected_mcp))
        .route("/.well-known/oauth-authorization-server", get(metadata::authorization_server))
        .route("/robots.txt", get(sitemap::robots))
        .route("/sitemap.xml", get(sitemap::sitemap))
        .route("/v1/capabilities", get(capabilities::list))
        .route("/v1/capabilities/{id}/schema", get(capabilities::schema))
        .route("/v1/capabilities/{id}/call", post(call::call))
        .route("/v1/agents/register", post(agents::register))
        .route("/v1/agent-events/stream", get(events::stream))
        .route("/v1/agent-events/ack", post(events::acknowledge))
        .route("/v1/agent-events/webhooks", get(events::list_webhooks).post(events::create_webhook))
        .route(
            "/v1/agent-events/webhooks/{id}",
            get(events::get_webhook).delete(events::delete_webhook),
        )
        .route("/media/uploads/{token}", put(media::upload))
        .route("/media/{digest}", get(media::serve))
        .route("/v1/install/install.sh", get(install::shell))
        .route("/v1/install/install.ps1", get(install::powershell))
        .route("/oauth/token", post(oauth::token::token))
        .route("/oauth/device_authorization", post(oauth::device::start))
        .route("/oauth/revoke", post(oauth::token::revoke))
        .route("/oauth/introspect", post(oauth::token::introspect))
        .route("/oauth/register", post(oauth::register::register))
        .route(
            "/oauth/register/{client_id}",
            get(oauth::register::get).put(oauth::register::update).delete(oauth::register::delete),
        )
        .method_not_allowed_fallback(refusal::no_such_method)
        .merge(mcp::routes(&app, service))
        .with_state(Arc::clone(&app))
        .merge(city_routes::open_routes(&app))
        .merge(extra_routes)
        .layer(cors::any_origin());
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/docs", get(docs::list))
        .route("/docs/errors", get(docs::errors))
        .route("/docs/connect", get(docs::connect))
        .route("/docs/guides/{name}", get(docs::guide))
        .route("/docs/{id}", get(docs::capability))
        .route("/v1/sms/reports/{id}", post(sms::report))
        .route("/map/handoffs/{handoff_id}/{record_id}", get(oauth::handoff::begin))
        .route("/published/{capability}/{secret}", get(published::show))
        .route("/handoff/{token}", get(oauth::handoff::show).post(oauth::handoff::submit))
        .route("/handoff/{token}/sign-in", get(oauth::handoff::sign_in))
        .route("/handoff/{token}/result", get(oauth::handoff::show_result))
        .route(
            "/m/{secret}",
            get(oauth::message_link::show_link).post(oauth::message_link::follow_link),
        )
        .route(
            "/approve",
            get(oauth::message_link::show_approval).post(oauth::message_link::submit_approval),
        )
        .route("/email/{token}", get(oauth::email_link::show).post(oauth::email_link::follow))
        .route("/passkey", get(oauth::passkey::show).post(oauth::passkey::submit))
        .route("/oauth/passkey.js", get(oauth::passkey::script))
        .route("/account", get(oauth::account::show).post(oauth::account::submit))
        .route(
            "/account/{capability}",
            get(oauth::person_page::show).post(oauth::person_page::submit),
        )
        .route("/oauth/authorize", get(oauth::authorize::start))
        .route(
            "/oauth/authorize/continue",
            get(oauth::sign_in::continue_page).post(oauth::sign_in::submit_step),
        )
        .route("/device", get(oauth::device::show))
        .route("/claim/{link}", get(oauth::claim::show))
        .fallback(refusal::no_such_public_path)
        .method_not_allowed_fallback(refusal::no_such_method)
        .with_state(Arc::clone(&app))
        .merge(city_routes::page_routes(&app))
        .merge(cross_origin)
        // One call for all layers, because each further call allocates once more for every request.
        .layer((
            from_fn_with_state(Arc::clone(&app), request_id::assign),
            // A better compression takes several times as long.
            CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(compress),
            from_fn_with_state(Arc::clone(&app), challenge::add),
            from_fn_with_state(Arc::clone(&app), count_request),
            DefaultBodyLimit::max(body_limit),
        ))
        .merge(feeds::routes(&app))
        .merge(map::routes(&app))
        .merge(asset_routes::routes(&app))
}

/// Returns the service at the operator's address and at the operator's socket.
pub(super) fn operator_address(app: &Arc<App>) -> Dispatcher {
    let clock = app.host.clock.clone();
    // A component one byte above the limit still arrives, and the catalog refuses it with the
    // reason; `versions::publish` gives the same reason for larger ones.
    let limit = app.host.sandbox.limits().component_bytes.saturating_add(1);
    let table = operator_routes::table(usize::try_from(limit).unwrap_or(usize::MAX));
    let routes: Vec<_> = table.iter().map(|handled| handled.route.clone()).collect();
    let gate = Arc::new(OperatorGate { app: Arc::clone(app), routes: routes.clone() });
    let add = |router: Router<Arc<App>>, Handled { route, handler }: Handled| {
        router.route(route.path, handler)
    };
    let api = table
        .into_iter()
        .fold(Router::new(), add)
        .fallback(refusal::no_such_path)
        .method_not_allowed_fallback(refusal::no_such_method)
        .with_state(Arc::clone(app))
        .layer((
            from_fn_with_state(Arc::clone(app), request_id::assign),
            from_fn_with_state(gate, operator_gate::pass),
        ));
    let routes = console::routes(app, api.clone(), routes).merge(api);
    Dispatcher { cities: Arc::default(), routes, clock, has_error_pages: false }
}
