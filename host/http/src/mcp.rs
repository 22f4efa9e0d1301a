//! `/mcp`: authentication and sessions of MCP requests. Crate `mcp` handles the messages.

use crate::{
    App, caller::authenticate, input::read_bytes, refusal::Refusal, request_id::RequestId,
    trace::RequestTrace,
};
use axum::{
    Extension, Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, FromRequest as _, FromRequestParts, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
    routing::any,
};
use futures_util::StreamExt as _;
use moka::{notification::RemovalCause, sync::Cache};
use portolan_mcp::{
    self as mcp, SESSION_HEADER, SESSION_IDLE, Sender, ServerHandler, Service, View,
};
use portolan_vocabulary::{Access, AgentCaller, ErrorCode, Failure, SCOPES};
use serde_json::json;
use std::{net::IpAddr, sync::Arc};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";
/// The first protocol revision without sessions.
const FIRST_VERSION_WITHOUT_SESSIONS: &str = "2026-07-28";
const VERSION_HEADER: &str = "mcp-protocol-version";
const JSON: &str = "application/json";
/// The media types of the transport's answers.
const ACCEPTED: &str = "application/json, text/event-stream";

/// The maximum number of sessions of one agent at a node.
const AGENT_SESSIONS: u64 = 16;
/// The time in seconds after which a refused session may be started.
const SESSION_WAIT_S: u32 = 60;
/// All unclaimed agents of one address have at most one part in this many of a node's sessions, but as many
/// as one agent.
const ADDRESS_SHARE: u64 = 4;

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

/// Returns whether this is the path of the endpoint, or of one of its views.
pub(super) fn is_endpoint(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The endpoint: the sessions, and the transport of the messages that are not answered directly.
struct Endpoint<S> {
    app: Arc<App>,
    sessions: Cache<String, SessionHolder>,
    transport: Service<S>,
}

/// The agent that started a session, which alone may use it.
#[derive(Clone)]
struct SessionHolder {
    agent_id: Arc<str>,
    is_claimed: bool,
    address: Option<IpAddr>,
}

impl SessionHolder {
    fn of(caller: &AgentCaller) -> Self {
        Self {
            agent_id: Arc::clone(&caller.agent_id),
            is_claimed: caller.owner_id.is_some(),
            address: caller.address,
        }
    }
}

/// The body of a message, and whether its media type is JSON.
#[derive(Default)]
struct Message {
    is_json: bool,
    body: Bytes,
}

impl Message {
    /// Returns whether the body is declared as JSON and does not begin like an object, so that it is no message.
    /// The transport would refuse an array too, but only after it has parsed thousands of messages in it.
    fn is_not_object(&self) -> bool {
        self.is_json && self.body.trim_ascii_start().first().is_some_and(|byte| *byte != b'{')
    }

    fn error_response(&self) -> Response {
        (StatusCode::BAD_REQUEST, Json(mcp::parse_error_response(&self.body))).into_response()
    }
}

/// The agent of a token for this endpoint, and the token.
struct Bearer(AgentCaller, Arc<str>);

impl<S: ServerHandler + Send + 'static> FromRequestParts<Arc<Endpoint<S>>> for Bearer {
    type Rejection = Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        endpoint: &Arc<Endpoint<S>>,
    ) -> Result<Self, Refusal> {
        let app = &endpoint.app;
        let (caller, token) = authenticate(app, parts, app.host.identity.mcp_audience()).await?;
        Ok(Self(caller, Arc::from(token)))
    }
}

pub(super) fn routes<S: ServerHandler + Send + 'static>(
    app: &Arc<App>,
    transport: Service<S>,
) -> Router<Arc<App>> {
    let mcp = Arc::clone(&app.mcp);
    let sessions = Cache::builder()
        // A session that is used again is replaced.
        .eviction_listener(move |session: Arc<String>, _, cause| {
            if cause != RemovalCause::Replaced {
                mcp.end_subscriptions(&session);
            }
        })
        .max_capacity(app.mcp.settings().sessions)
        .time_to_idle(SESSION_IDLE)
        .build();
    let endpoint = Arc::new(Endpoint { app: Arc::clone(app), sessions, transport });
    Router::new()
        .route(PATH, any(answer::<S>))
        .route(&format!("{PATH}/{{*view}}"), any(answer::<S>))
        .with_state(endpoint)
}

/// Answers a request whose token is for this endpoint and whose session, if any, belongs to the token's agent: a
/// complete call of a tool directly, everything else by the transport.
async fn answer<S: ServerHandler + Send + 'static>(
    State(endpoint): State<Arc<Endpoint<S>>>,
    Bearer(caller, token): Bearer,
    Extension(RequestId(request_id)): Extension<RequestId>,
    trace: Option<Extension<RequestTrace>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (host, mcp) = (&endpoint.app.host, &endpoint.app.mcp);
    let path = request.uri().path().strip_prefix(PATH).unwrap_or_default();
    let view = View::parse(path, request.uri().query())?;
    mcp.ensure_toolsets(&view)?;
    let session = header_text(request.headers(), SESSION_HEADER).map(str::to_owned);
    match &session {
        Some(session) => {
            let holder = SessionHolder::of(&caller);
            Box::pin(endpoint.ensure_holder(session, &holder)).await?;
        }
        None if can_start_session(&request) => {
            host.permit(&caller, Access::Open)?;
            endpoint.ensure_session(&SessionHolder::of(&caller))?;
        }
        None => {}
    }
    let (mut parts, message) = endpoint.read(request).await?;
    if message.is_not_object() {
        return Ok(message.error_response());
    }
    host.charge_body(&caller, message.body.len())?;
    write_out_accepted(&mut parts.headers);
    // The transport would answer a call for which the token lacks a scope with 200, after which no client
    // asks for more scopes.
    let direct = message.is_json.then(|| mcp.direct_call(&parts.headers, &message.body));
    let direct = direct.flatten();
    if parts.method == Method::POST && !has_every_scope(&caller) {
        match &direct {
            Some(call) => mcp.ensure_scope_of(&caller, &view, call)?,
            None => mcp.ensure_scope(&caller, &view, &message.body)?,
        }
    }
    let trace = trace.map(|Extension(RequestTrace(trace))| trace);
    let sender = Sender { caller, token, request_id, trace, view };
    if let Some(call) = direct {
        let answer = mcp.answer(call, sender).await?;
        return Ok(([(header::CONTENT_TYPE, JSON)], answer).into_response());
    }
    Box::pin(endpoint.pass_on(parts, &message, sender, session)).await
}

/// Ends a session's stream when the token that opened it is no longer valid.
fn end_with_token(app: Arc<App>, sender: Sender, response: Response) -> Response {
    let ended = async move { app.mcp.stream_end(&sender).await };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
}

impl<S: ServerHandler + Send + 'static> Endpoint<S> {
    /// Lets the transport answer a message. `session` is the one that the request names.
    async fn pass_on(
        &self,
        mut parts: Parts,
        message: &Message,
        sender: Sender,
        session: Option<String>,
    ) -> Result<Response, Refusal> {
        let (holder, method) = (SessionHolder::of(&sender.caller), parts.method.clone());
        let stream_opened_by = (method == Method::GET).then(|| sender.clone());
        parts.extensions.insert(sender);
        let request = Request::from_parts(parts, Body::from(message.body.clone()));
        let response = self.transport.handle(request).await.map(Body::new);
        let mut response = wrap_error_response(response, message)?;
        match session {
            Some(session) if method == Method::DELETE && response.status().is_success() => {
                self.sessions.invalidate(&session);
                // The transport answers 202, but the session has ended already.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            None => {
                let started = header_text(response.headers(), SESSION_HEADER).map(str::to_owned);
                if let Some(session) = started {
                    let agent_id = &holder.agent_id;
                    self.app.mcp.keep_session(&session, agent_id, &message.body).await;
                    self.sessions.insert(session, holder);
                }
            }
            Some(_) => {}
        }
        Ok(match stream_opened_by.filter(|_| response.status().is_success()) {
            Some(sender) => end_with_token(Arc::clone(&self.app), sender, response),
            None => response,
        })
    }

    /// Refuses a session that this agent did not begin. One that this node does not know may have been begun on
    /// another node, or before a restart.
    async fn ensure_holder(&self, session: &str, holder: &SessionHolder) -> Result<(), Failure> {
        // Another agent's session is answered like an unknown one.
        let unknown = || Failure::new(ErrorCode::NotFound).message(NO_SESSION);
        match self.sessions.get(session) {
            Some(started) if started.agent_id == holder.agent_id => Ok(()),
            Some(_) => Err(unknown()),
            None => {
                let kept = self.app.mcp.agent_of_kept_session(session).await;
                if kept.as_deref() != Some(&*holder.agent_id) {
                    return Err(unknown());
                }
                self.ensure_session(holder)?;
                self.sessions.insert(session.to_owned(), holder.clone());
                Ok(())
            }
        }
    }

    /// Refuses a new session if there are too many: of the agent, of the unclaimed agents at its address, or
    /// at this node.
    fn ensure_session(&self, holder: &SessionHolder) -> Result<(), Failure> {
        self.sessions.run_pending_tasks();
        let sessions = self.app.mcp.settings().sessions;
        let (mut of_agent, mut of_address) = (0, 0);
        for (_, started) in &self.sessions {
            of_agent += u64::from(started.agent_id == holder.agent_id);
            let is_unclaimed_there = !started.is_claimed && started.address == holder.address;
            of_address += u64::from(is_unclaimed_there && !holder.is_claimed);
        }
        let refused = |limit: u64, of: &str, message: &'static str| {
            let conflict = json!({ "kind": "limit", "name": "sessions", "of": of, "limit": limit });
            Err(Failure::new(ErrorCode::RateLimited)
                .message(message)
                .conflict(conflict)
                .after_s(SESSION_WAIT_S))
        };
        let address_sessions = (sessions / ADDRESS_SHARE).max(AGENT_SESSIONS);
        if of_agent >= AGENT_SESSIONS {
            return refused(
                AGENT_SESSIONS,
                "caller",
                "This agent has too many sessions. End one with DELETE, or use one that is open.",
            );
        }
        if of_address >= address_sessions {
            return refused(
                address_sessions,
                "address",
                "The agents at this address have too many sessions. End one with DELETE, or claim the agent.",
            );
        }
        if self.sessions.entry_count() >= sessions {
            return Err(Failure::new(ErrorCode::CapabilityUnavailable).after_s(SESSION_WAIT_S));
        }
        Ok(())
    }

    /// Reads the body of a message. Only a `POST` has one.
    async fn read(&self, request: Request) -> Result<(Parts, Message), Failure> {
        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return Ok((parts, Message::default()));
        }
        let limit = self.app.host.sandbox.limits().call_input_bytes;
        let mut body = Request::new(body);
        DefaultBodyLimit::max(limit as usize).apply(&mut body);
        let body = read_bytes(&self.app, Bytes::from_request(body, &()).await)?;
        let message = Message { is_json: is_json(&parts.headers), body };
        Ok((parts, message))
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
        return Ok(message.error_response());
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

/// Adds the media types of the transport to an `Accept` header that accepts every type, because the transport knows
/// no wildcards.
fn write_out_accepted(headers: &mut HeaderMap) {
    let accepted = header_text(headers, header::ACCEPT.as_str()).unwrap_or_default();
    let is_refusal = |parameter: &str| {
        parameter.strip_prefix("q=").and_then(|quality| quality.parse::<f32>().ok()) == Some(0.0)
    };
    let accepts_all = accepted.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next() == Some("*/*") && !parts.any(is_refusal)
    });
    if accepts_all {
        headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPTED));
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON))
}

fn has_every_scope(caller: &AgentCaller) -> bool {
    SCOPES.iter().all(|scope| caller.has_scope(scope))
}

/// Returns whether a request without a session may start one: it must be a POST, in a protocol revision with
/// sessions or without a named revision.
fn can_start_session(request: &Request) -> bool {
    let version = header_text(request.headers(), VERSION_HEADER);
    request.method() == Method::POST
        && version.is_none_or(|version| version < FIRST_VERSION_WITHOUT_SESSIONS)
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
