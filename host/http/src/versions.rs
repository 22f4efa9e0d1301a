//! The operator's routes for versions of components: publication, rollback and history.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid_query},
};
use axum::{
    Json,
    body::Bytes,
    extract::{
        Path, Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::{HeaderMap, StatusCode, header::CONTENT_LENGTH},
};
use portolan_catalog::{
    Decider, History, LoadError, PublishError, PublishRequest, Published, RolledBack,
};
use portolan_vocabulary::{ErrorCode, Failure, Operator, one_line};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of bytes of a text from the request that are kept.
const MAX_TEXT_BYTES: usize = 300;

/// The query of `POST /catalog/publish`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishParameters {
    /// The name of the file in the catalog folder.
    file: String,
    /// Where the component came from.
    source: Option<String>,
    by: Option<String>,
}

/// The query of `POST /catalog/{id}/rollback`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RollbackParameters {
    /// A version or a digest. Without it, the version before the serving one.
    to: Option<String>,
    by: Option<String>,
}

/// Makes the component in the body the desired version of its capability.
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<PublishParameters>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Published>, Refusal> {
    let Query(PublishParameters { file, source, by }) = parameters.map_err(invalid_query)?;
    let content = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let limit = app.host.sandbox.limits().component_bytes;
            publish_refusal(
                LoadError::TooLarge { size: content_length(&headers).unwrap_or(limit), limit }
                    .into(),
            )
        }
        _ => Refusal(Failure::new(ErrorCode::ValidationFailed).message(rejection.body_text())),
    })?;
    let source = source.map_or_else(|| format!("a file {file}"), shortened);
    let request = PublishRequest { file, source, decider: decider(operator, by) };
    let published = app.host.catalog.publish_component(content.into(), request).await;
    Ok(Json(published.map_err(publish_refusal)?))
}

/// Makes an earlier version the desired one, or permits the older one that waits in the catalog
/// folder to serve.
pub(super) async fn rollback(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<RollbackParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(RollbackParameters { to, by }) = parameters.map_err(invalid_query)?;
    let outcome = app.host.catalog.roll_back(&id, to.as_deref(), decider(operator, by)).await;
    Ok(Json(match outcome.map_err(publish_refusal)? {
        RolledBack::Installed(published) => json!(published),
        RolledBack::Permitted => json!({ "id": id, "state": "permitted" }),
    }))
}

/// Returns the versions of a capability, the newest first.
pub(super) async fn history(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<History>, Refusal> {
    match app.host.catalog.history(&id).await? {
        Some(history) => Ok(Json(history)),
        None => Err(Refusal(
            Failure::new(ErrorCode::NotFound)
                .message(format!("no version of {} was ever here", one_line(&id, MAX_TEXT_BYTES))),
        )),
    }
}

/// Returns the length that `Content-Length` states, if it is a number.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns who decides. The history has the name that was given, with the operator's in parentheses, because
/// nobody has checked the former.
fn decider(operator: Operator, by: Option<String>) -> Decider {
    let name = match by.map(shortened) {
        Some(by) if by != *operator.name => format!("{by} ({})", operator.name),
        _ => operator.name.to_string(),
    };
    Decider { operator, name }
}

fn shortened(text: String) -> String {
    one_line(&text, MAX_TEXT_BYTES)
}

/// Returns the failure of a publication or rollback, with the reason and the fix that `portolan check` gives.
fn publish_refusal(error: PublishError) -> Refusal {
    let code = match &error {
        PublishError::Store(_) | PublishError::Stopping => ErrorCode::DependencyUnavailable,
        PublishError::UnknownVersion { .. } => ErrorCode::NotFound,
        PublishError::Breaking { .. }
        | PublishError::NothingEarlier(_)
        | PublishError::NotKept { .. } => ErrorCode::InvalidTransition,
        PublishError::Refused(_)
        | PublishError::UndeclaredPeople(_)
        | PublishError::FileName(_) => ErrorCode::ValidationFailed,
    };
    Refusal(Failure::new(code).message(error.to_string()).conflict(json!({
        "kind": "version",
        "reason": error.reason(),
        "fix": error.fix(),
        "problems": error.problems(),
    })))
}
