//! `GET /openapi.json`: OpenAPI 3.1, generated from the catalog. The call of each capability is a path
//! with the schemas of its actions. It has the capabilities of one page of the catalog, those that a search finds, or
//! those that are named.

use crate::{
    App,
    address::ClientAddress,
    agents,
    capabilities::{document as respond, find, with_next_page},
    mcp,
    refusal::Refusal,
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{
        HeaderMap,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse as _, Response},
};
use portolan_catalog::{Capability, Document, Page, Snapshot, branch, hoist};
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, sync::Arc};
use utoipa::{OpenApi, ToSchema};

const PATH: &str = "/openapi.json";
const MEDIA_TYPE: &str = "application/openapi+json";
const SCHEMAS: &str = "#/components/schemas/";
/// The maximum number of capabilities that are named or found.
const CHOSEN: usize = 20;
/// The parameters of the query, of which one chooses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    cursor: Option<String>,
    /// Ids of capabilities, separated by commas.
    capability: Option<String>,
    q: Option<String>,
}

/// The paths that do not depend on the catalog.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Portolan",
        description = "A host for capabilities. Clients branch on error_code, not on the HTTP status. The same capabilities are tools of the Model Context Protocol, at the address in x-mcp."
    ),
    paths(
        list_capabilities,
        get_capability_schema,
        register_agent,
        register_client,
        issue_token,
        authorize_device,
        revoke_token,
        introspect_token,
        poll_events,
        acknowledge_events,
        list_webhooks,
        create_webhook,
        get_webhook,
        delete_webhook
    ),
    components(schemas(Envelope))
)]
struct StaticPaths;

/// The failure envelope: the body of every refusal of a capability call.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct Envelope {
    error_code: String,
    message: String,
    /// Whether the same call can succeed later, perhaps after the step in `next`.
    retryable: bool,
    conflict: Option<Value>,
    next: Option<Value>,
}

/// The parameters of one of four grants. Instead of client_secret, the client may authenticate
/// with HTTP Basic or with an assertion.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct TokenRequest {
    /// client_credentials, authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code
    grant_type: String,
    /// The authorization code (RFC 6749, section 4.1.3).
    code: Option<String>,
    /// The verifier of the code's challenge (RFC 7636).
    code_verifier: Option<String>,
    redirect_uri: Option<String>,
    refresh_token: Option<String>,
    /// The device code (RFC 8628, section 3.4).
    device_code: Option<String>,
    client_id: Option<String>,
    /// The client's secret, or its client key.
    client_secret: Option<String>,
    /// Space-separated: svc.read, svc.write, svc.events. All of them if left out.
    scope: Option<String>,
    /// The address of this API, or that of MCP (RFC 8707).
    resource: Option<String>,
    /// urn:ietf:params:oauth:client-assertion-type:jwt-bearer
    client_assertion_type: Option<String>,
    /// A JSON Web Token that the client signed (RFC 7523).
    client_assertion: Option<String>,
}

/// A token, from a client that authenticates as at the token endpoint.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct TokenReference {
    /// An access token or refresh token of this client.
    token: String,
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// The metadata with which a client registers (RFC 7591).
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct RegisterClient {
    client_name: Option<String>,
    redirect_uris: Option<Vec<String>>,
    /// Any of authorization_code, refresh_token and client_credentials.
    grant_types: Option<Vec<String>>,
    /// client_secret_basic, client_secret_post, private_key_jwt or none
    token_endpoint_auth_method: Option<String>,
    /// Space-separated: the scopes that the client may request.
    scope: Option<String>,
    /// The keys for private_key_jwt (RFC 7517).
    jwks: Option<Value>,
    jwks_uri: Option<String>,
}

/// The parameters of a device authorization request. The client authenticates as at the token endpoint.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct DeviceAuthorizationRequest {
    client_id: Option<String>,
    client_secret: Option<String>,
    /// Space-separated: svc.read, svc.write, svc.events. All of them if left out.
    scope: Option<String>,
    /// The address of this API, or that of MCP (RFC 8707).
    resource: Option<String>,
}

/// List the capabilities, in pages.
#[utoipa::path(get, path = "/v1/capabilities", operation_id = "listCapabilities", tag = "catalog",
    params(
        ("cursor" = Option<String>, Query, description = "The next_cursor of the page before"),
        ("q" = Option<String>, Query, description = "Words for what you want to do: the answer is `{items}`, the actions that fit, the best first"),
    ),
    responses((status = 200, description = "A page of the live catalog", body = Value), (status = 304, description = "Not modified")))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn list_capabilities() {}

/// Get the JSON Schema of one capability.
#[utoipa::path(get, path = "/v1/capabilities/{id}/schema", operation_id = "getCapabilitySchema", tag = "catalog",
    params(("id" = String, Path, description = "The capability's id")),
    responses((status = 200, description = "JSON Schema 2020-12", body = Value), (status = 404, description = "unknown_capability", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn get_capability_schema() {}

/// Register an agent: credentials without a human account.
#[utoipa::path(post, path = "/v1/agents/register", operation_id = "registerAgent", tag = "identity",
    request_body(content = ref("#/components/schemas/RegisterAgent"), content_type = "application/json"),
    responses((status = 200, description = "The agent and its client; the secrets are shown once", body = Value), (status = 400, description = "validation_failed", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn register_agent() {}

/// Get an access token (RFC 6749).
#[utoipa::path(post, path = "/oauth/token", operation_id = "issueToken", tag = "identity",
    request_body(content_type = "application/x-www-form-urlencoded", content = TokenRequest),
    responses((status = 200, description = "Token response", body = Value), (status = 400, description = "Error response", body = Value), (status = 401, description = "invalid_client", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn issue_token() {}

/// Begin the authorization of a device without a browser (RFC 8628).
#[utoipa::path(post, path = "/oauth/device_authorization", operation_id = "authorizeDevice", tag = "identity",
    request_body(content_type = "application/x-www-form-urlencoded", content = DeviceAuthorizationRequest),
    responses((status = 200, description = "The codes, where a person enters theirs, and how often to request the token", body = Value), (status = 400, description = "Error response", body = Value), (status = 401, description = "invalid_client", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn authorize_device() {}

/// Register a client that people let act for them (RFC 7591).
#[utoipa::path(post, path = "/oauth/register", operation_id = "registerClient", tag = "identity",
    request_body(content_type = "application/json", content = RegisterClient),
    responses((status = 201, description = "The client; its secrets are shown once", body = Value), (status = 400, description = "invalid_redirect_uri or invalid_client_metadata", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn register_client() {}

/// Revoke a token (RFC 7009).
#[utoipa::path(post, path = "/oauth/revoke", operation_id = "revokeToken", tag = "identity",
    request_body(content_type = "application/x-www-form-urlencoded", content = TokenReference),
    responses((status = 200, description = "The token is revoked, if it belonged to this client", body = Value), (status = 401, description = "invalid_client", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn revoke_token() {}

/// Describe a token (RFC 7662).
#[utoipa::path(post, path = "/oauth/introspect", operation_id = "introspectToken", tag = "identity",
    request_body(content_type = "application/x-www-form-urlencoded", content = TokenReference),
    responses((status = 200, description = "The token's scopes, subject and expiry, or active: false", body = Value), (status = 401, description = "invalid_client", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn introspect_token() {}

/// The events that the agent has processed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct AcknowledgeEvents {
    /// 1 to 500 event ids.
    ack_event_ids: Vec<String>,
}

/// The endpoint of a webhook, and the events that it gets.
#[derive(ToSchema)]
#[expect(dead_code, reason = "utoipa reads this type for /openapi.json; nothing else uses it")]
struct CreateWebhook {
    /// An https address.
    url: String,
    /// Types of events; all of them if left out.
    types: Option<Vec<String>>,
    description: Option<String>,
}

/// Wait for the agent's events, or stream them.
#[utoipa::path(get, path = "/v1/agent-events/stream", operation_id = "pollEvents", tag = "events",
    params(
        ("wait" = Option<u64>, Query, description = "Seconds to wait for an event, 0 to 55; 25 if left out"),
        ("limit" = Option<u64>, Query, description = "The most events of the answer, 1 to 100; 50 if left out"),
        ("cursor" = Option<String>, Query, description = "The cursor of the previous answer, to get the events after it"),
        ("types" = Option<String>, Query, description = "Comma-separated types of events; all of them if left out"),
        ("ack_event_ids" = Option<String>, Query, description = "Comma-separated ids of processed events")
    ),
    security(("bearer" = [])),
    responses((status = 200, description = "CloudEvents in order, and the next cursor; server-sent events if text/event-stream is accepted", content((Value = "application/json"), (String = "text/event-stream"))), (status = 400, description = "cursor_invalid or validation_failed", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn poll_events() {}

/// Acknowledge events, so that they are not delivered again.
#[utoipa::path(post, path = "/v1/agent-events/ack", operation_id = "acknowledgeEvents", tag = "events",
    security(("bearer" = [])),
    request_body(content_type = "application/json", content = AcknowledgeEvents),
    responses((status = 200, description = "The acknowledged ids, and the unknown ones", body = Value), (status = 400, description = "validation_failed", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn acknowledge_events() {}

/// List the agent's webhooks: the action list of svc.webhooks.
#[utoipa::path(get, path = "/v1/agent-events/webhooks", operation_id = "listWebhooks", tag = "events",
    security(("bearer" = [])),
    responses((status = 200, description = "The answer of the capability", body = Value)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn list_webhooks() {}

/// Register a webhook: the action create of svc.webhooks.
#[utoipa::path(post, path = "/v1/agent-events/webhooks", operation_id = "createWebhook", tag = "events",
    security(("bearer" = [])),
    request_body(content_type = "application/json", content = CreateWebhook),
    responses((status = 200, description = "The webhook, and its secret, which is shown once", body = Value), (status = 400, description = "url_not_allowed or validation_failed", body = Envelope), (status = 403, description = "phone_binding_required", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn create_webhook() {}

/// Get a webhook: the action get of svc.webhooks.
#[utoipa::path(get, path = "/v1/agent-events/webhooks/{id}", operation_id = "getWebhook", tag = "events",
    params(("id" = String, Path, description = "The webhook's id")),
    security(("bearer" = [])),
    responses((status = 200, description = "The answer of the capability", body = Value), (status = 404, description = "webhook_not_found", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn get_webhook() {}

/// Delete a webhook: the action delete of svc.webhooks.
#[utoipa::path(delete, path = "/v1/agent-events/webhooks/{id}", operation_id = "deleteWebhook", tag = "events",
    params(("id" = String, Path, description = "The webhook's id")),
    security(("bearer" = [])),
    responses((status = 200, description = "The answer of the capability", body = Value), (status = 404, description = "webhook_not_found", body = Envelope)))]
#[expect(dead_code, reason = "utoipa reads this function for /openapi.json; nothing calls it")]
fn delete_webhook() {}

pub(super) async fn document(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Query(asked) = asked.map_err(|rejection| invalid(rejection.body_text()))?;
    let snapshot = app.host.catalog.snapshot();
    let chosen = match (&asked.capability, &asked.q) {
        (Some(_), Some(_)) => {
            return Err(invalid("Send one of `capability` and `q`.".to_owned()).into());
        }
        (Some(ids), None) => {
            // This description is not cached, so it costs as much as a search.
            app.host.rates.count_page_view(address)?;
            named(&app, &snapshot, ids)?
        }
        (None, Some(words)) => found(find(&app, words, CHOSEN, address)?),
        (None, None) => {
            let page = snapshot.page(asked.cursor.as_deref());
            let description = describe(&app, &snapshot, page);
            let response = respond(&app, &headers, &description, MEDIA_TYPE).await?;
            return Ok(with_next_page(response, PATH, page));
        }
    };
    if asked.cursor.is_some() {
        let text = "Send no `cursor` with `capability` or `q`: they have one page.";
        return Err(invalid(text.to_owned()).into());
    }
    let description = build(&snapshot, &chosen, &app.public_url).to_string();
    Ok(([(CONTENT_TYPE, MEDIA_TYPE), (CACHE_CONTROL, "no-cache")], description).into_response())
}

fn invalid(message: String) -> Failure {
    Failure::new(ErrorCode::ValidationFailed).message(message)
}

/// Returns the capabilities with these ids, each once.
fn named(app: &App, snapshot: &Snapshot, ids: &str) -> Result<Vec<Arc<Capability>>, Failure> {
    let ids: BTreeSet<&str> = ids.split(',').map(str::trim).collect();
    if ids.len() > CHOSEN {
        return Err(invalid(format!("Name at most {CHOSEN} capabilities.")));
    }
    let now = app.host.clock.now();
    ids.into_iter().map(|id| snapshot.find(id, now).cloned()).collect()
}

/// Returns the capabilities of found actions, each once, in their order.
fn found(actions: Vec<(Arc<Capability>, String)>) -> Vec<Arc<Capability>> {
    let mut chosen: Vec<Arc<Capability>> = Vec::new();
    for (capability, _) in actions {
        if chosen.iter().all(|known| known.id != capability.id) {
            chosen.push(capability);
        }
    }
    chosen
}

/// Returns the description of a page of the catalog, which is made once.
fn describe(app: &App, snapshot: &Snapshot, page: &Page) -> Document {
    let first = page.capabilities.first().map_or_else(Arc::default, |first| Arc::clone(&first.id));
    app.openapi.get_or_make(snapshot.version, first, || {
        let mut description = build(snapshot, &page.capabilities, &app.public_url);
        if let (Some(cursor), Some(root)) = (&page.next_cursor, description.as_object_mut()) {
            root.insert("x-next".to_owned(), json!(format!("{PATH}?cursor={cursor}")));
        }
        Document::new(&description)
    })
}

fn build(snapshot: &Snapshot, capabilities: &[Arc<Capability>], public_url: &str) -> Value {
    let mut document = serde_json::to_value(StaticPaths::openapi()).unwrap_or_default();
    let mut schemas = Map::new();
    let paths: Vec<_> = capabilities
        .iter()
        .map(|capability| {
            let path = format!("/v1/capabilities/{}/call", capability.id);
            (path, json!({ "post": operation(capability, &mut schemas) }))
        })
        .collect();
    if let Some(entries) = document.get_mut("paths").and_then(Value::as_object_mut) {
        entries.extend(paths);
    }
    let components = document.get_mut("components").and_then(Value::as_object_mut);
    if let Some(components) = components {
        if let Some(entries) = components.get_mut("schemas").and_then(Value::as_object_mut) {
            entries.extend(schemas);
            entries.insert("RegisterAgent".to_owned(), agents::schema());
        }
        components.insert(
            "securitySchemes".to_owned(),
            json!({
                "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
            }),
        );
    }
    if let Some(root) = document.as_object_mut() {
        root.insert("servers".to_owned(), json!([{ "url": public_url }]));
        let mcp =
            json!({ "url": format!("{public_url}{}", mcp::PATH), "transport": "streamable-http" });
        root.insert("x-mcp".to_owned(), mcp);
        root.insert("x-catalog-version".to_owned(), json!(snapshot.version));
    }
    document
}

fn operation(capability: &Capability, schemas: &mut Map<String, Value>) -> Value {
    let descriptor = &capability.descriptor;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut examples = Map::new();
    for action in capability.callable() {
        let name = &action.descriptor.name;
        let (mut input, definitions) = branch(descriptor, action, SCHEMAS);
        schemas.extend(definitions);
        if let Some(fields) = input.as_object_mut() {
            fields.shift_remove("x-output");
            let body = fields.get("examples").and_then(|list| list.get(0)).cloned();
            examples.extend(body.map(|body| (name.clone(), json!({ "value": body }))));
        }
        let (output, definitions) = hoist(
            action.schemas.output.document(),
            SCHEMAS,
            &format!("{}.{name}.output", capability.id),
        );
        schemas.extend(definitions);
        inputs.push(input);
        outputs.push(output);
    }
    let scopes: Vec<_> =
        capability.callable().filter_map(|action| action.descriptor.access.scope()).collect();
    json!({
        "operationId": format!("call_{}", capability.tool_name()),
        "tags": ["capabilities"],
        "summary": descriptor.title,
        "description": format!("{} Scopes: {}.", descriptor.description, sorted_unique(&scopes)),
        "security": [{ "bearer": [] }],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "oneOf": inputs }, "examples": examples } },
        },
        "responses": {
            "200": {
                "description": "The answer",
                "content": { "application/json": { "schema": {
                    "type": "object",
                    "properties": {
                        "result": { "anyOf": outputs },
                        "meta": { "type": "object" },
                        "next": { "type": "object" },
                    },
                    "required": ["result", "meta"],
                } } },
            },
            "default": {
                "description": "A refusal",
                "content": { "application/json": { "schema": { "$ref": format!("{SCHEMAS}Envelope") } } },
            },
        },
    })
}

fn sorted_unique(scopes: &[&'static str]) -> String {
    let mut scopes = scopes.to_vec();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() { "none".to_owned() } else { scopes.join(", ") }
}
