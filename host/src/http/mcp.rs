//! `/mcp`: who may send messages to it, and in which session. What the messages mean is the room
//! `mcp`'s.

use crate::{
    http::{App, address::ClientAddress, answer::Refusal, caller::bearer, request_id::RequestId},
    mcp::{Admitted, SESSION_HEADER, SESSION_IDLE, ServerHandler, Service},
    vocabulary::{Access, AgentCaller, Failure},
};
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, Method, StatusCode, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use moka::sync::Cache;
use serde_json::json;
use std::sync::Arc;

/// Where the endpoint is.
pub(super) const PATH: &str = "/mcp";
/// From this revision on there are no sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";
const VERSION_HEADER: &str = "mcp-protocol-version";

/// What the door knows of requests before they are let in.
#[derive(Clone)]
struct Door {
    app: Arc<App>,
    /// The agent of each session: nobody else's requests belong to it.
    sessions: Cache<String, Arc<str>>,
}

/// The agent behind a token for this endpoint.
struct Bearer(AgentCaller, Arc<str>);

impl FromRequestParts<Door> for Bearer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let identity = &door.app.host.identity;
        let caller = identity.authenticate(token, identity.mcp_audience()).await?;
        let token = Arc::from(token);
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, &door.app).await;
        Ok(Self(AgentCaller { address, ..caller }, token))
    }
}

pub(super) fn routes<S: ServerHandler + Send + 'static>(
    app: &Arc<App>,
    service: Service<S>,
) -> Router<Arc<App>> {
    let sessions = Cache::builder()
        .max_capacity(app.mcp.settings().sessions)
        .time_to_idle(SESSION_IDLE)
        .build();
    let door = Door { app: Arc::clone(app), sessions };
    Router::new().route_service(PATH, service).layer(from_fn_with_state(door, admit))
}

/// Lets requests in whose token is for this endpoint and whose session is the token's agent's.
async fn admit(
    State(door): State<Door>,
    Bearer(caller, token): Bearer,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let agent_id = Arc::clone(&caller.agent_id);
    let session = text(request.headers(), SESSION_HEADER);
    match &session {
        Some(session) if door.sessions.get(session).is_none_or(|owner| owner != agent_id) => {
            // As if there were none: the client begins another one.
            return Ok((StatusCode::NOT_FOUND, "There is no such session.").into_response());
        }
        None if may_begin_a_session(&request) => {
            door.app.host.rates.call(&caller, Access::Open)?;
            door.sessions.run_pending_tasks();
            if door.sessions.entry_count() >= door.app.mcp.settings().sessions {
                return Err(Failure::new("capability_unavailable").after_s(60).into());
            }
        }
        _ => {}
    }
    let mut request = door.check_scope(&caller, request).await?;
    let ends = request.method() == Method::DELETE;
    request.extensions_mut().insert(Admitted { caller, token, request_id });
    let mut response = next.run(request).await;
    match session {
        Some(session) if ends && response.status().is_success() => {
            door.sessions.invalidate(&session);
            // It is over, not only accepted.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        None => {
            if let Some(session) = text(response.headers(), SESSION_HEADER) {
                door.sessions.insert(session, agent_id);
            }
        }
        Some(_) => {}
    }
    Ok(response)
}

impl Door {
    /// Refuses a call for which the token's scopes are not enough, before it is answered with the
    /// status that says it went well.
    async fn check_scope(
        &self,
        caller: &AgentCaller,
        request: Request,
    ) -> Result<Request, Failure> {
        if request.method() != Method::POST || holds_every_scope(caller) {
            return Ok(request);
        }
        let limit = self.app.host.sandbox.limits().call_input_bytes;
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, limit as usize).await.map_err(|_| {
            Failure::new("payload_too_large")
                .conflict(json!({ "kind": "limit", "name": "call_input_bytes", "limit": limit }))
        })?;
        self.app.mcp.check_scope(caller, &body)?;
        Ok(Request::from_parts(parts, Body::from(body)))
    }
}

fn holds_every_scope(caller: &AgentCaller) -> bool {
    crate::identity::SCOPES.iter().all(|scope| caller.holds(scope))
}

/// Only a client of the older protocol, and only by its first message.
fn may_begin_a_session(request: &Request) -> bool {
    let version = text(request.headers(), VERSION_HEADER);
    request.method() == Method::POST && version.is_none_or(|it| it.as_str() < WITHOUT_SESSIONS)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}
