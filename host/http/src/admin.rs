//! The operator's routes: the status of the host and of its catalog, the audit log, dead letters,
//! operator calls, and the rotation of signing keys and of the operators' shared token.

use crate::{App, Refusal, read_body};
use axum::{
    Json,
    body::Bytes,
    extract::{
        FromRequestParts, Path, Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::{HeaderMap, request::Parts},
};
use portolan_catalog::{DecisionError, Status};
use portolan_pipeline::Operation;
use portolan_publication::Feeds;
use portolan_store::{AuditQuery, AuditRecord, DroppedLetters, Outcome, QuotaUse};
use portolan_vocabulary::{ErrorCode, Failure, Operator, Timestamp, is_capability_id, one_line};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, sync::Arc};

/// The number of rows of an answer if the query has no `limit`.
const DEFAULT_PAGE_ROWS: u32 = 100;
const MAX_PAGE_ROWS: u32 = 1_000;
/// The maximum number of bytes of the numbers of dead letters in the row of a decision.
const MAX_SUBJECT_BYTES: usize = 200;

/// The operator of the request, who is named in the row of what is decided.
#[derive(Debug)]
pub(super) struct Deciding(pub(super) Operator);

impl<S: Send + Sync> FromRequestParts<S> for Deciding {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let operator = parts.extensions.get::<Operator>().cloned();
        let failure = || Refusal(Failure::new(ErrorCode::AuthenticationRequired));
        Ok(Self(operator.ok_or_else(failure)?))
    }
}

/// Answers agents that the host runs.
pub(super) async fn healthz() -> &'static str {
    "ok"
}

pub(super) async fn status(State(app): State<Arc<App>>) -> Json<Value> {
    let snapshot = app.host.catalog.snapshot();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "public_url": app.public_url,
        "catalog_version": snapshot.version,
        "capabilities": snapshot.capabilities.len(),
        "pooled_sandboxes": app.host.sandbox.pooled(),
        "remembered_tokens": app.host.identity.cached_tokens(),
        "waiting_readers": app.host.events.waiting_reader_count(),
        "feeds": app.host.feeds.status(),
        "cities": other_cities(&app),
    }))
}

/// Returns the status of the feeds of each city after the first one, by its slug.
fn other_cities(app: &App) -> Map<String, Value> {
    let of_city = |feeds: &Arc<Feeds>| {
        let slug = feeds.roads().city()?.to_owned();
        Some((slug, json!(feeds.status())))
    };
    app.host.other_cities.iter().filter_map(of_city).collect()
}

/// The answer to `GET /catalog`.
#[derive(Debug, Serialize)]
pub(super) struct CatalogStatus {
    #[serde(flatten)]
    status: Status,
    quotas: Vec<QuotaUse>,
}

pub(super) async fn catalog(State(app): State<Arc<App>>) -> Result<Json<CatalogStatus>, Refusal> {
    let (status, quotas) = (app.host.catalog.status(), app.host.store.quota_uses().await?);
    Ok(Json(CatalogStatus { status, quotas }))
}

/// The query of `POST /catalog/{id}/approve` and `adopt`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionParameters {
    /// The digest of the component that the operator has seen.
    digest: Option<String>,
}

/// Grants the permissions that the component of an id waits for.
pub(super) async fn approve(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<DecisionParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(DecisionParameters { digest }) = parameters.map_err(invalid_query)?;
    let permitted = app.host.catalog.approve(&id, digest.as_deref(), &operator).await;
    Ok(Json(json!({ "id": id, "permitted": permitted.map_err(decision_refusal)? })))
}

/// Gives an id to the publisher of a refused component.
pub(super) async fn adopt(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<DecisionParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(DecisionParameters { digest }) = parameters.map_err(invalid_query)?;
    let publisher = app.host.catalog.adopt(&id, digest.as_deref(), &operator).await;
    Ok(Json(json!({ "id": id, "publisher": publisher.map_err(decision_refusal)? })))
}

fn decision_refusal(error: DecisionError) -> Refusal {
    match error {
        DecisionError::NothingToDecide(_) => {
            Refusal(Failure::new(ErrorCode::NotFound).message(error.to_string()))
        }
        DecisionError::Ambiguous(_) | DecisionError::Changed { .. } => {
            Refusal(Failure::new(ErrorCode::InvalidTransition).message(error.to_string()))
        }
        DecisionError::Store(error) => error.into(),
    }
}

/// The query of `GET /audit`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditParameters {
    /// An instant in RFC 3339. Rows of this instant are included, those of `until` are not.
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    agent_id: Option<String>,
    owner_id: Option<String>,
    capability: Option<String>,
    action: Option<String>,
    request_id: Option<String>,
    /// `ok`, `failed`, or an error code.
    outcome: Option<String>,
    /// The name of an operator.
    operator: Option<String>,
    before: Option<i64>,
    limit: Option<u32>,
}

pub(super) async fn audit(
    State(app): State<Arc<App>>,
    parameters: Result<Query<AuditParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let limit = page_rows(query.limit);
    let entries = app
        .host
        .store
        .audit(&AuditQuery {
            since: query.since,
            until: query.until,
            agent_id: query.agent_id,
            owner_id: query.owner_id,
            capability: query.capability,
            action: query.action,
            request_id: query.request_id,
            outcome: query.outcome.map(|text| match text.as_str() {
                "failed" => Outcome::Failed,
                _ => Outcome::Is(text),
            }),
            operator: query.operator,
            is_direct: false,
            before: query.before,
            limit: u64::from(limit),
        })
        .await?;
    let next = entries.last().filter(|_| entries.len() == limit as usize).map(|last| last.seq);
    Ok(Json(json!({ "entries": entries, "before": next })))
}

pub(super) async fn timers(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    let timers = app.host.store.pending_timers(app.host.clock.now()).await?;
    Ok(Json(json!({ "timers": timers })))
}

/// Removes the pending timers of a capability.
pub(super) async fn drop_timers(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    if !is_capability_id(&id) {
        return Err(invalid("the path has no capability id"));
    }
    let dropped = app.host.store.drop_timers(&id).await?;
    tracing::info!(id, dropped, "pending timers are dropped by the operator");
    let row = app.host.decision("operator:drop_timers", &operator);
    app.host.record_decision(AuditRecord { capability: id.clone(), ..row }).await?;
    Ok(Json(json!({ "id": id, "dropped": dropped })))
}

/// The query of `GET /dead-letters`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeadLetterParameters {
    after: Option<i64>,
    limit: Option<u32>,
}

pub(super) async fn dead_letters(
    State(app): State<Arc<App>>,
    parameters: Result<Query<DeadLetterParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let limit = page_rows(query.limit);
    let letters = app.host.store.dead_letters(query.after.unwrap_or(0), limit).await?;
    let next = letters.last().filter(|_| letters.len() == limit as usize).map(|last| last.id);
    Ok(Json(json!({ "dead_letters": letters, "after": next })))
}

/// The query of `POST /dead-letters/replay` and `POST /dead-letters/drop`: comma-separated numbers, or `all`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LettersParameters {
    ids: String,
}

impl LettersParameters {
    /// Returns the numbers, or `None` for all dead letters.
    fn numbers(&self) -> Result<Option<Vec<i64>>, Refusal> {
        if self.ids == "all" {
            return Ok(None);
        }
        let numbers = self.ids.split(',').map(str::parse::<i64>).collect::<Result<Vec<_>, _>>();
        let message = "ids must be all, or comma-separated numbers";
        numbers.map(Some).map_err(|_| invalid(message))
    }
}

pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<LettersParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let ids = query.numbers()?;
    let count = app.host.store.replay(ids.as_deref(), app.host.clock.now()).await?;
    let row = app.host.decision("operator:replay", &operator);
    let version = one_line(&query.ids, MAX_SUBJECT_BYTES);
    app.host.record_decision(AuditRecord { version, ..row }).await?;
    Ok(Json(json!({ "replayed": count })))
}

/// Removes dead letters for good. Numbers that no dead letter has are in the answer.
pub(super) async fn drop_dead_letters(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<LettersParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let ids = query.numbers()?;
    let DroppedLetters { dropped, missing } =
        app.host.store.drop_dead_letters(ids.as_deref()).await?;
    let row = app.host.decision("operator:drop_dead_letters", &operator);
    let version = one_line(&query.ids, MAX_SUBJECT_BYTES);
    app.host.record_decision(AuditRecord { version, ..row }).await?;
    Ok(Json(json!({ "dropped": dropped, "missing": missing })))
}

/// The query of `POST /capabilities/{id}/{action}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperateParameters {
    #[serde(default)]
    test_mode: bool,
}

/// Runs an internal action.
pub(super) async fn operate(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path((capability, action)): Path<(String, String)>,
    parameters: Result<Query<OperateParameters>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(OperateParameters { test_mode }) = parameters.map_err(invalid_query)?;
    let input = Value::Object(read_body(&app, &headers, body)?);
    let operation = Operation { capability, action, input, test_mode };
    let result = app.host.operate(&operation, &operator).await?;
    Ok(Json(json!({ "result": result })))
}

/// Creates a signing key and returns the ids of all keys, the newest first.
pub(super) async fn rotate_keys(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
) -> Result<Json<Value>, Refusal> {
    let keys = app.host.identity.rotate_keys(&operator).await?;
    let key =
        |(id, created_at): &(String, Timestamp)| json!({ "kid": id, "created_at": created_at });
    Ok(Json(json!({ "keys": keys.iter().map(key).collect::<Vec<_>>() })))
}

/// Replaces the operators' shared token with a new one.
pub(super) async fn rotate_token(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
) -> Result<Json<Value>, Refusal> {
    match app.operator.token.rotate() {
        Ok(Some(token)) => {
            let row = app.host.decision("operator:rotate_token", &operator);
            app.host.record_decision(row).await?;
            Ok(Json(json!({ "token": token })))
        }
        Ok(None) => Err(Refusal(Failure::new(ErrorCode::InvalidTransition).message(
            "The token is in the configuration: change operator_token or PORTOLAN_OPERATOR_TOKEN, and restart the host.",
        ))),
        Err(error) => {
            tracing::error!("{error:#}");
            Err(Refusal(Failure::new(ErrorCode::InternalError)))
        }
    }
}

fn page_rows(limit: Option<u32>) -> u32 {
    limit.unwrap_or(DEFAULT_PAGE_ROWS).clamp(1, MAX_PAGE_ROWS)
}

pub(super) fn invalid_query(rejection: QueryRejection) -> Refusal {
    invalid(rejection.body_text())
}

pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal(Failure::new(ErrorCode::ValidationFailed).message(message))
}
