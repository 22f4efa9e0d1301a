//! `GET /v1/agent-events/stream`, as a long poll or as server-sent events, and
//! `POST /v1/agent-events/ack`. The paths for webhooks call the capability `svc.webhooks`.

use crate::{
    App,
    answer::{call_response, set_rate_limits},
    caller::{Authenticated, Token},
    input::{idempotency_key, is_json, read_body, read_call_body},
    refusal::Refusal,
    request_id::RequestId,
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{
        Path, RawQuery, State,
        rejection::{BytesRejection, PathRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream;
use portolan_events::{InboxPage, Poll, Waiter};
use portolan_pipeline::{Call, ensure_permitted};
use portolan_store::StateError;
use portolan_vocabulary::{Access, AgentCaller, ErrorCode, Failure, Role};
use serde_json::{Map, Value, json};
use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

const DEFAULT_WAIT_S: u64 = 25;
const MAX_WAIT_S: u64 = 55;
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 100;
/// The maximum number of ids of one acknowledgement.
const MAX_ACKNOWLEDGED: usize = 500;
/// The interval of comments in a stream without events.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The interval of checks of a stream's token.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(300);
/// The wait before the next poll, and the longer one if another reader has superseded this one or the host
/// stops.
const NEXT_POLL_MS: u64 = 0;
const DELAYED_POLL_MS: u64 = 1_000;

/// The parameters of the query.
pub(super) struct PollParameters {
    wait: Duration,
    limit: usize,
    cursor: Option<u64>,
    types: Vec<String>,
    acknowledged: Vec<String>,
}

pub(super) async fn stream(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    token: Token,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let rate_limits = app.host.permit(&caller, Access::Events)?;
    let mut parameters = PollParameters::parse(query.as_deref().unwrap_or_default())?;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let is_stream = accept.is_some_and(|accept| accept.contains("text/event-stream"));
    if let Some(last) = headers.get("last-event-id").filter(|_| is_stream) {
        // A browser that reconnects sends the last id that it has received, but still the cursor of
        // its first request.
        parameters.cursor = Some(parse_cursor(last.to_str().unwrap_or_default())?);
    }
    // Dropped to save memory, because very many readers wait here at once.
    drop((headers, query));
    let poll = Poll {
        agent_id: Arc::clone(&caller.agent_id),
        test_mode: caller.test_mode,
        cursor: parameters.cursor,
        types: parameters.types,
        limit: parameters.limit,
    };
    drop(caller);
    let events = &app.host.events;
    Box::pin(events.ensure_cursor(&poll)).await.map_err(poll_failure)?;
    let acknowledged =
        Box::pin(events.acknowledge_now(&poll.agent_id, parameters.acknowledged)).await?;
    let waiter = events.register_reader(&poll.agent_id);
    if is_stream {
        let mut response = server_sent(app, waiter, token, poll);
        set_rate_limits(response.headers_mut(), &rate_limits);
        return Ok(response);
    }
    let page = events.poll(&waiter, &poll, parameters.wait).await.map_err(poll_failure)?;
    ensure_still_permitted(&app, &token).await?;
    let mut response = page_response(&app, page, acknowledged).into_response();
    set_rate_limits(response.headers_mut(), &rate_limits);
    Ok(response)
}

/// Ensures that the token was not revoked while the request waited.
async fn ensure_still_permitted(app: &App, token: &Token) -> Result<(), Failure> {
    let identity = &app.host.identity;
    let caller = Box::pin(identity.authenticate(&token.0, identity.audience())).await?;
    ensure_permitted(&caller, Access::Events, app.host.catalog.roles())
}

fn page_response(
    app: &App,
    inbox_page: InboxPage,
    (acknowledged, unknown): (Vec<String>, Vec<String>),
) -> impl IntoResponse {
    let is_delayed = inbox_page.superseded || app.host.events.is_stopping();
    let mut body = json!({
        "events": inbox_page.events,
        "cursor": inbox_page.cursor.to_string(),
        "has_more": inbox_page.has_more,
        "acked": acknowledged,
        "unknown_ack_ids": unknown,
        "retry_after_ms": if is_delayed { DELAYED_POLL_MS } else { NEXT_POLL_MS },
    });
    if inbox_page.superseded
        && let Some(fields) = body.as_object_mut()
    {
        fields.insert("superseded".to_owned(), json!(true));
    }
    ([(header::CACHE_CONTROL, "no-store")], Json(body))
}

/// Returns a stream that ends when its reader disconnects or is superseded, when its token expires or is
/// revoked, when a poll fails, or when the host stops.
fn server_sent(app: Arc<App>, waiter: Waiter, token: Token, poll: Poll) -> Response {
    let state = (app, waiter, token, poll, VecDeque::new());
    let events = stream::unfold(state, |(app, waiter, token, mut poll, mut ready)| async move {
        loop {
            if let Some(event) = ready.pop_front() {
                return Some((Ok::<_, Infallible>(event), (app, waiter, token, poll, ready)));
            }
            let page = app.host.events.poll(&waiter, &poll, TOKEN_CHECK_INTERVAL).await.ok()?;
            let has_ended = page.superseded || app.host.events.is_stopping();
            if has_ended && page.events.is_empty() {
                return None;
            }
            ensure_still_permitted(&app, &token).await.ok()?;
            let cursor = poll.cursor.unwrap_or(0);
            poll.cursor = Some(page.cursor);
            ready.extend(page.events.into_iter().map(|fields| event(fields, cursor)));
        }
    });
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("alive");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not buffer the stream.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Makes the server-sent event. Its id is the cursor from which a reader resumes, so for an event that is
/// delivered again it is the cursor that the reader had already reached.
fn event(event: Map<String, Value>, cursor: u64) -> Event {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let seq: u64 = text("sequence").parse().unwrap_or(0);
    let event_type = text("type").to_owned();
    let id = seq.max(cursor).to_string();
    Event::default().id(id).event(event_type).data(Value::Object(event).to_string())
}

pub(super) async fn acknowledge(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    app.host.permit(&caller, Access::Events)?;
    let mut body = read_body(&app, &headers, body)?;
    let ids = match body.shift_remove("ack_event_ids") {
        Some(Value::Array(ids))
            if body.is_empty() && (1..=MAX_ACKNOWLEDGED).contains(&ids.len()) =>
        {
            ids
        }
        _ => {
            return Err(invalid_parameter(
                "/ack_event_ids",
                "an array of 1 to 500 event ids, and no other field",
            )
            .into());
        }
    };
    let ids: Option<Vec<String>> = ids.iter().map(|id| Some(id.as_str()?.to_owned())).collect();
    let ids = ids.ok_or_else(|| invalid_parameter("/ack_event_ids", "an array of strings"))?;
    let (acknowledged, unknown) = app.host.events.acknowledge_now(&caller.agent_id, ids).await?;
    Ok(Json(json!({ "acked": acknowledged, "unknown_ack_ids": unknown })))
}

/// Lists the webhooks.
pub(super) async fn list_webhooks(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    Extension(request_id): Extension<RequestId>,
) -> Result<Response, Refusal> {
    call_webhook_action(&app, caller, request_id, None, "list", Ok(Map::new())).await
}

pub(super) async fn create_webhook(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let body = read_call_body(&app, &caller, is_json(&headers), body);
    call_webhook_action(&app, caller, request_id, idempotency_key(&headers)?, "create", body).await
}

pub(super) async fn get_webhook(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    Extension(request_id): Extension<RequestId>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    call_webhook_action(&app, caller, request_id, None, "get", webhook_id_body(id)).await
}

pub(super) async fn delete_webhook(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    Extension(request_id): Extension<RequestId>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    call_webhook_action(&app, caller, request_id, None, "delete", webhook_id_body(id)).await
}

fn webhook_id_body(id: Result<Path<String>, PathRejection>) -> Result<Map<String, Value>, Failure> {
    let Path(id) = id.map_err(|_| Failure::new(ErrorCode::NotFound))?;
    Ok(Map::from_iter([("webhook_id".to_owned(), Value::String(id))]))
}

/// Calls an action of the capability for webhooks.
async fn call_webhook_action(
    app: &App,
    caller: AgentCaller,
    RequestId(request_id): RequestId,
    idempotency_key: Option<String>,
    action: &str,
    body: Result<Map<String, Value>, Failure>,
) -> Result<Response, Refusal> {
    let body = body.map(|mut body| {
        body.insert("action".to_owned(), json!(action));
        body
    });
    let snapshot = app.host.catalog.snapshot();
    let capability = &snapshot.holder(Role::WebhookManagement)?.id;
    let (by_person, trace) = (false, None);
    let call = Call { caller, capability, body, idempotency_key, request_id, by_person, trace };
    Ok(call_response(app.host.call(call).await))
}

fn invalid_parameter(pointer: &str, expected: &str) -> Failure {
    let message = "A parameter of the request is invalid.";
    Failure::new(ErrorCode::ValidationFailed).message(message).conflict(json!({
        "kind": "validation",
        "errors": [{ "pointer": pointer, "rule": "parameter", "expected": expected }],
    }))
}

fn parse_cursor(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| poll_failure(StateError::CursorInvalid))
}

/// Returns the failure of a read. For an invalid cursor, its next step is the same poll without a
/// cursor.
fn poll_failure(error: StateError) -> Failure {
    let next = json!({ "http": { "method": "GET", "url": "/v1/agent-events/stream" } });
    match error {
        StateError::CursorInvalid => Failure::new(ErrorCode::CursorInvalid).next(next),
        error => error.into(),
    }
}

impl PollParameters {
    pub(super) fn parse(query: &str) -> Result<Self, Failure> {
        let mut parameters = Self {
            wait: Duration::from_secs(DEFAULT_WAIT_S),
            limit: DEFAULT_LIMIT,
            cursor: None,
            types: Vec::new(),
            acknowledged: Vec::new(),
        };
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)
            .map_err(|_| invalid_parameter("", "a query of names and values"))?;
        let list = |value: &str| -> Vec<String> {
            value
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect()
        };
        for (name, value) in pairs {
            match name.as_str() {
                "wait" => {
                    let seconds = value.parse().ok().filter(|wait| *wait <= MAX_WAIT_S);
                    let seconds =
                        seconds.ok_or_else(|| invalid_parameter("/wait", "0 to 55 seconds"))?;
                    parameters.wait = Duration::from_secs(seconds);
                }
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    parameters.limit =
                        limit.ok_or_else(|| invalid_parameter("/limit", "1 to 100"))?;
                }
                "cursor" if value.is_empty() => {}
                "cursor" => parameters.cursor = Some(parse_cursor(&value)?),
                "types" => parameters.types.extend(list(&value)),
                "ack_event_ids" => parameters.acknowledged.extend(list(&value)),
                _ => {
                    let expected = "wait, limit, cursor, types or ack_event_ids";
                    return Err(invalid_parameter(&format!("/{name}"), expected));
                }
            }
        }
        match parameters.acknowledged.len() <= MAX_ACKNOWLEDGED {
            true => Ok(parameters),
            false => Err(invalid_parameter("/ack_event_ids", "at most 500 event ids")),
        }
    }
}
