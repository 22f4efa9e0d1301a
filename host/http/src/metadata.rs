//! Metadata about authentication (RFC 9728, RFC 8414, RFC 7517) and about the APIs (RFC 9727), and two
//! documents in prose: `/auth.md` and `/llms.txt`.

use crate::{App, Refusal, guide::guide, mcp};
use askama::Template;
use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderName, header},
    response::{IntoResponse, Response},
};
use portolan_identity::{ASSERTION_ALGORITHMS, AUTH_METHODS, GRANTS, OFFLINE_ACCESS};
use portolan_mcp::View;
use portolan_vocabulary::{Role, SCOPES};
use serde_json::{Value, json};
use std::sync::Arc;

/// These documents change seldom: with the configuration, the catalog, the feeds or the signing
/// keys.
const CACHE_FIVE_MINUTES: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=300");

const JSON: &str = "application/json";
const OPENAPI: &str = "application/openapi+json";

/// Returns the metadata of the REST API as a protected resource (RFC 9728, section 2).
pub(super) async fn protected_resource(State(app): State<Arc<App>>) -> Response {
    resource(&app, app.host.identity.audience())
}

/// Returns the metadata of the MCP endpoint, or of a view of it, as a protected resource. It names the address that the
/// client has asked about, because clients compare both (RFC 9728, section 3.3).
///
/// # Errors
///
/// Fails with `not_found` if there is no such view.
pub(super) async fn protected_mcp(
    State(app): State<Arc<App>>,
    view: Option<Path<String>>,
) -> Result<Response, Refusal> {
    let Some(Path(view)) = view else {
        return Ok(resource(&app, app.host.identity.mcp_audience()));
    };
    View::parse(&view, None)?;
    Ok(resource(&app, &format!("{}/{view}", app.host.identity.mcp_audience())))
}

fn resource(app: &App, resource: &str) -> Response {
    let issuer = app.host.identity.issuer();
    let body = json!({
        "resource": resource,
        "resource_name": "Portolan",
        "authorization_servers": [issuer],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{issuer}/auth.md"),
    });
    ([CACHE_FIVE_MINUTES], Json(body)).into_response()
}

/// Returns the authorization server's metadata (RFC 8414, section 2), with the block `agent_auth` for
/// registration without a human account.
pub(super) async fn authorization_server(State(app): State<Arc<App>>) -> Response {
    let issuer = app.host.identity.issuer();
    let at = |path: &str| format!("{issuer}{path}");
    let register = at("/v1/agents/register");
    let claim = app.host.catalog.roles().assigned(Role::PhoneVerification);
    let claim = claim.map(|capability| at(&format!("/v1/capabilities/{capability}/call")));
    let algorithms = ASSERTION_ALGORITHMS.map(|(name, _)| name);
    let snapshot = app.host.catalog.snapshot();
    let events = snapshot.event_types("identity.");
    // Introspection requires a client with credentials.
    let confidential: Vec<_> =
        AUTH_METHODS.into_iter().filter(|method| *method != "none").collect();
    let body = json!({
        "issuer": issuer,
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "device_authorization_endpoint": at("/oauth/device_authorization"),
        "registration_endpoint": at("/oauth/register"),
        "revocation_endpoint": at("/oauth/revoke"),
        "introspection_endpoint": at("/oauth/introspect"),
        "jwks_uri": at("/.well-known/jwks.json"),
        "service_documentation": at("/auth.md"),
        "scopes_supported": SCOPES.iter().copied().chain([OFFLINE_ACCESS]).collect::<Vec<_>>(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANTS,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "token_endpoint_auth_signing_alg_values_supported": algorithms,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        "introspection_endpoint_auth_methods_supported": confidential,
        "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "agent_auth": {
            "skill": at("/auth.md"),
            "register_uri": register,
            "identity_endpoint": register,
            "identity_types_supported": ["anonymous", "client"],
            "claim_uri": claim,
            "claim_endpoint": claim,
            "claim_method": "phone_otp",
            "revocation_uri": at("/oauth/revoke"),
            "credential_types_supported": ["access_token"],
            "events_supported": events,
            "anonymous": {
                "credential_types_supported": ["access_token"],
                "claim_uri": claim,
                "claim_method": "phone_otp",
            },
            "client": {
                "registration_endpoint": at("/oauth/register"),
                "credential_types_supported": ["access_token"],
            },
        },
    });
    ([CACHE_FIVE_MINUTES], Json(body)).into_response()
}

/// Returns the public signing keys as a JWK set (RFC 7517).
pub(super) async fn keys(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let keys: Value = app.host.identity.public_keys().await?;
    let headers = [CACHE_FIVE_MINUTES, (header::CONTENT_TYPE, "application/jwk-set+json")];
    Ok((headers, keys.to_string()).into_response())
}

/// Returns the API catalog (RFC 9727): links (RFC 9264) to the descriptions of this host's APIs.
pub(super) async fn api_catalog(State(app): State<Arc<App>>) -> Response {
    let at = |path: &str| format!("{}{path}", app.public_url);
    let link = |path: &str, media_type: &str| json!([{ "href": at(path), "type": media_type }]);
    let mut linkset = vec![json!({
        "anchor": at("/v1/capabilities"),
        "service-desc": link("/openapi.json", OPENAPI),
        "service-doc": link("/llms.txt", "text/plain"),
        "service-meta": link("/.well-known/oauth-protected-resource", JSON),
    })];
    linkset.push(json!({
        "anchor": at(mcp::PATH),
        "service-doc": link("/llms.txt", "text/plain"),
        "service-meta": link("/.well-known/oauth-protected-resource/mcp", JSON),
    }));
    if app.host.feeds.current().is_some() {
        linkset.push(json!({
            "anchor": at("/map/data/agent-index.json"),
            "service-desc": link("/map/data/openapi.json", OPENAPI),
            "service-doc": link("/llms.txt", "text/plain"),
            "service-meta": link("/.well-known/agent.json", JSON),
        }));
    }
    let body = json!({ "linkset": linkset });
    let media_type =
        "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";
    ([CACHE_FIVE_MINUTES, (header::CONTENT_TYPE, media_type)], body.to_string()).into_response()
}

/// An overview of this host for language models (llmstxt.org).
#[derive(Template)]
#[template(path = "llms.txt", escape = "none")]
struct Overview<'a> {
    url: &'a str,
    /// The path, title and description of each feed.
    feeds: Vec<(&'a str, &'a str, &'a str)>,
    /// The id, title and first line of each capability.
    capabilities: Vec<(&'a str, String, String)>,
}

pub(super) async fn auth_guide(State(app): State<Arc<App>>) -> Response {
    page(&guide(&app.host, &app.public_url), "text/markdown; charset=utf-8")
}

pub(super) async fn overview(State(app): State<Arc<App>>) -> Response {
    let snapshot = app.host.catalog.snapshot();
    let listed = snapshot.capabilities.values().map(|capability| {
        let descriptor = &capability.descriptor;
        (&*capability.id, inline(&descriptor.title), inline(first_line(&descriptor.description)))
    });
    let publication = app.host.feeds.current();
    let documents = publication.iter().flat_map(|publication| publication.documents());
    let entries = documents.map(|document| &*document.entry);
    let described = entries.filter(|entry| entry.operation.is_some());
    let overview = Overview {
        url: &app.public_url,
        feeds: described
            .map(|entry| (entry.path.as_str(), entry.title, entry.description))
            .collect(),
        capabilities: listed.collect(),
    };
    page(&overview, "text/plain; charset=utf-8")
}

/// Escapes what begins links, tags and code in Markdown, because an author wrote the text.
fn inline(text: &str) -> String {
    let escape = |letter: char| match letter {
        '\\' | '[' | ']' | '<' | '`' => format!("\\{letter}"),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn page(template: &impl Template, media_type: &'static str) -> Response {
    match template.render() {
        Ok(text) => {
            ([CACHE_FIVE_MINUTES, (header::CONTENT_TYPE, media_type)], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a document cannot be rendered");
            axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
