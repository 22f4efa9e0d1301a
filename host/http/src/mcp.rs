//! `/mcp`: who may send messages to it, and in which session. What the messages mean is the room
//! `mcp`'s.

use crate::{
    App, address::ClientAddress, caller::bearer, input::read_bytes, refusal::Refusal,
    request_id::RequestId,
};
use axum::{
    Extension, Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, FromRequest as _, FromRequestParts, Request, State},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use moka::sync::Cache;
use portolan_mcp::{self as mcp, Admitted, SESSION_HEADER, SESSION_IDLE, ServerHandler, Service};
use portolan_vocabulary::{Access, AgentCaller, ErrorCode, Failure, SCOPES};
use std::sync::Arc;

/// Where the endpoint is.
pub(super) const PATH: &str = "/mcp";
/// From this revision on there are no sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";
const VERSION_HEADER: &str = "mcp-protocol-version";

const NO_SESSION: &str = "There is no such session. Begin another one.";
/// What is said of a request that the transport does not take, by the status of its own answer.
const REFUSALS: [(StatusCode, ErrorCode, &str); 6] = [
    (
        StatusCode::BAD_REQUEST,
        ErrorCode::ValidationFailed,
        "A header is missing or wrong: Host, MCP-Protocol-Version with a revision that is spoken here, or, in one that has sessions, Mcp-Session-Id.",
    ),
    (
        StatusCode::FORBIDDEN,
        ErrorCode::NotPermitted,
        "Requests to this host name, or from pages of this origin, are not taken.",
    ),
    (StatusCode::NOT_FOUND, ErrorCode::NotFound, NO_SESSION),
    (
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::MethodNotAllowed,
        "In this revision of the protocol, messages are sent with POST.",
    ),
    (
        StatusCode::NOT_ACCEPTABLE,
        ErrorCode::ValidationFailed,
        "Accept text/event-stream, and in a POST application/json as well.",
    ),
    (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::UnsupportedMediaType,
        "Send the body as application/json.",
    ),
];

/// What the door knows of requests before they are let in.
#[derive(Clone)]
struct Door {
    app: Arc<App>,
    /// The agent of each session: nobody else's requests belong to it.
    sessions: Cache<String, Arc<str>>,
}

/// The body of a message, and whether it was said to be JSON.
#[derive(Default)]
struct Sent {
    is_json: bool,
    body: Bytes,
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
            return Err(Failure::new(ErrorCode::NotFound).message(NO_SESSION).into());
        }
        None if may_begin_a_session(&request) => {
            door.app.host.permit(&caller, Access::Open)?;
            door.sessions.run_pending_tasks();
            if door.sessions.entry_count() >= door.app.mcp.settings().sessions {
                return Err(Failure::new(ErrorCode::CapabilityUnavailable).after_s(60).into());
            }
        }
        _ => {}
    }
    let (mut request, sent) = door.read(&caller, request).await?;
    let method = request.method().clone();
    let admitted = Admitted { caller, token, request_id };
    let standing = (method == Method::GET).then(|| admitted.clone());
    request.extensions_mut().insert(admitted);
    let mut response = taken(next.run(request).await, sent)?;
    match session {
        Some(session) if method == Method::DELETE && response.status().is_success() => {
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
    Ok(match standing.filter(|_| response.status().is_success()) {
        Some(admitted) => until_ended(door.app, admitted, response),
        None => response,
    })
}

/// A session's stream ends with the token that it was opened with.
fn until_ended(app: Arc<App>, admitted: Admitted, response: Response) -> Response {
    let ended = async move { app.mcp.ended(&admitted).await };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
}

impl Door {
    /// The whole body of a message. Refuses a call for which the token's scopes are not enough, before
    /// it is answered with the status that says it went well.
    async fn read(
        &self,
        caller: &AgentCaller,
        request: Request,
    ) -> Result<(Request, Sent), Failure> {
        if request.method() != Method::POST {
            return Ok((request, Sent::default()));
        }
        let limit = self.app.host.sandbox.limits().call_input_bytes;
        let (parts, body) = request.into_parts();
        let mut body = Request::new(body);
        DefaultBodyLimit::max(limit as usize).apply(&mut body);
        let body = read_bytes(&self.app, Bytes::from_request(body, &()).await)?;
        if !holds_every_scope(caller) {
            self.app.mcp.ensure_scope(caller, &body)?;
        }
        let sent = Sent { is_json: is_json(&parts.headers), body: body.clone() };
        Ok((Request::from_parts(parts, Body::from(body)), sent))
    }
}

/// The answer to a request that was taken; the refusal of one that was not. What the protocol itself
/// has an answer for is left as it is.
fn taken(response: Response, sent: Sent) -> Result<Response, Refusal> {
    let status = response.status();
    if status.is_success() || is_json(response.headers()) {
        return Ok(response);
    }
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && sent.is_json {
        let answer = Json(mcp::unreadable(&sent.body));
        return Ok((StatusCode::BAD_REQUEST, answer).into_response());
    }
    let Some((_, code, message)) = REFUSALS.into_iter().find(|(it, ..)| *it == status) else {
        tracing::error!(%status, "a message was not answered");
        return Err(Failure::new(ErrorCode::InternalError).into());
    };
    let mut refusal = Refusal(Failure::new(code).message(message)).into_response();
    if let Some(methods) = response.headers().get(header::ALLOW) {
        refusal.headers_mut().insert(header::ALLOW, methods.clone());
    }
    Ok(refusal)
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|it| it.split(';').next());
    essence.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"))
}

fn holds_every_scope(caller: &AgentCaller) -> bool {
    SCOPES.iter().all(|scope| caller.holds(scope))
}

/// Only a client of the older protocol, and only by its first message.
fn may_begin_a_session(request: &Request) -> bool {
    let version = text(request.headers(), VERSION_HEADER);
    request.method() == Method::POST && version.is_none_or(|it| it.as_str() < WITHOUT_SESSIONS)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}
