//! `/mcp`: authentication and sessions of MCP requests. Crate `mcp` handles the messages.

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
use portolan_mcp::{self as mcp, SESSION_HEADER, SESSION_IDLE, Sender, ServerHandler, Service};
use portolan_vocabulary::{Access, AgentCaller, ErrorCode, Failure, SCOPES};
use std::sync::Arc;

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";
/// The first protocol revision without sessions.
const FIRST_VERSION_WITHOUT_SESSIONS: &str = "2026-07-28";
const VERSION_HEADER: &str = "mcp-protocol-version";

const NO_SESSION: &str = "There is no such session. Start a new one.";
/// The failures that replace the transport's own error responses, by status.
const REFUSALS: [(StatusCode, ErrorCode, &str); 6] = [
    (
        StatusCode::BAD_REQUEST,
        ErrorCode::ValidationFailed,
        "A header is missing or wrong: Host, MCP-Protocol-Version with a supported revision, or Mcp-Session-Id in a revision with sessions.",
    ),
    (
        StatusCode::FORBIDDEN,
        ErrorCode::NotPermitted,
        "Requests to this host name, or from pages of this origin, are not allowed.",
    ),
    (StatusCode::NOT_FOUND, ErrorCode::NotFound, NO_SESSION),
    (
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::MethodNotAllowed,
        "Send messages with POST in this revision of the protocol.",
    ),
    (
        StatusCode::NOT_ACCEPTABLE,
        ErrorCode::ValidationFailed,
        "Accept text/event-stream; with POST, accept application/json too.",
    ),
    (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::UnsupportedMediaType,
        "Send the body as application/json.",
    ),
];

/// The state of the layer that admits requests.
#[derive(Clone)]
struct Admission {
    app: Arc<App>,
    /// The agent of each session, which alone may use it.
    sessions: Cache<String, Arc<str>>,
}

/// The body of a message, and whether its media type is JSON.
#[derive(Default)]
struct Message {
    is_json: bool,
    body: Bytes,
}

/// The agent of a token for this endpoint, and the token.
struct Bearer(AgentCaller, Arc<str>);

impl FromRequestParts<Admission> for Bearer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &Admission) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let identity = &state.app.host.identity;
        let caller = identity.authenticate(token, identity.mcp_audience()).await?;
        let token = Arc::from(token);
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, &state.app).await;
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
    let state = Admission { app: Arc::clone(app), sessions };
    Router::new().route_service(PATH, service).layer(from_fn_with_state(state, admit))
}

/// Admits requests whose token is for this endpoint and whose session, if any, belongs to the token's
/// agent.
async fn admit(
    State(admission): State<Admission>,
    Bearer(caller, token): Bearer,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let agent_id = Arc::clone(&caller.agent_id);
    let session = header_text(request.headers(), SESSION_HEADER);
    match &session {
        Some(session) if admission.sessions.get(session).is_none_or(|agent| agent != agent_id) => {
            // Another agent's session is answered like an unknown one.
            return Err(Failure::new(ErrorCode::NotFound).message(NO_SESSION).into());
        }
        None if can_start_session(&request) => {
            admission.app.host.permit(&caller, Access::Open)?;
            admission.sessions.run_pending_tasks();
            if admission.sessions.entry_count() >= admission.app.mcp.settings().sessions {
                return Err(Failure::new(ErrorCode::CapabilityUnavailable).after_s(60).into());
            }
        }
        _ => {}
    }
    let (mut request, message) = admission.read(&caller, request).await?;
    let method = request.method().clone();
    let sender = Sender { caller, token, request_id };
    let stream_opened_by = (method == Method::GET).then(|| sender.clone());
    request.extensions_mut().insert(sender);
    let mut response = wrap_error_response(next.run(request).await, &message)?;
    match session {
        Some(session) if method == Method::DELETE && response.status().is_success() => {
            admission.sessions.invalidate(&session);
            // The transport answers 202, but the session has ended already.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        None => {
            if let Some(session) = header_text(response.headers(), SESSION_HEADER) {
                admission.sessions.insert(session, agent_id);
            }
        }
        Some(_) => {}
    }
    Ok(match stream_opened_by.filter(|_| response.status().is_success()) {
        Some(sender) => end_with_token(admission.app, sender, response),
        None => response,
    })
}

/// Ends a session's stream when the token that opened it is no longer valid.
fn end_with_token(app: Arc<App>, sender: Sender, response: Response) -> Response {
    let ended = async move { app.mcp.stream_end(&sender).await };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
}

impl Admission {
    /// Reads the body of a message. Refuses a tool call for which the token lacks a scope: the transport
    /// would answer it with 200, after which no client asks for more scopes.
    async fn read(
        &self,
        caller: &AgentCaller,
        request: Request,
    ) -> Result<(Request, Message), Failure> {
        if request.method() != Method::POST {
            return Ok((request, Message::default()));
        }
        let limit = self.app.host.sandbox.limits().call_input_bytes;
        let (parts, body) = request.into_parts();
        let mut body = Request::new(body);
        DefaultBodyLimit::max(limit as usize).apply(&mut body);
        let body = read_bytes(&self.app, Bytes::from_request(body, &()).await)?;
        if !has_every_scope(caller) {
            self.app.mcp.ensure_scope(caller, &body)?;
        }
        let message = Message { is_json: is_json(&parts.headers), body: body.clone() };
        Ok((Request::from_parts(parts, Body::from(body)), message))
    }
}

/// Replaces an error response of the transport with the failure envelope. Successes and the protocol's own
/// errors, which are JSON, stay as they are. A body that is declared as JSON and cannot be parsed is answered
/// with an error of the protocol.
fn wrap_error_response(response: Response, message: &Message) -> Result<Response, Refusal> {
    let status = response.status();
    if status.is_success() || is_json(response.headers()) {
        return Ok(response);
    }
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && message.is_json {
        let answer = Json(mcp::parse_error_response(&message.body));
        return Ok((StatusCode::BAD_REQUEST, answer).into_response());
    }
    let Some((_, code, message)) = REFUSALS.into_iter().find(|(known, ..)| *known == status) else {
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
    let essence = media_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn has_every_scope(caller: &AgentCaller) -> bool {
    SCOPES.iter().all(|scope| caller.has_scope(scope))
}

/// Returns whether a request without a session may start one: it must be a POST, in a protocol revision with
/// sessions or without a named revision.
fn can_start_session(request: &Request) -> bool {
    let version = header_text(request.headers(), VERSION_HEADER);
    request.method() == Method::POST
        && version.is_none_or(|version| version.as_str() < FIRST_VERSION_WITHOUT_SESSIONS)
}

fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}
