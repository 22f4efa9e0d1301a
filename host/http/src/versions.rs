//! The operator's routes for versions of components: publication, rollback, history, and releases to a share of callers.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid, invalid_query},
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
    Decider, History, LoadError, PublishError, PublishRequest, Published, ReleasePlan,
    ReleaseStatus, RolledBack,
};
use portolan_vocabulary::{ErrorCode, Failure, Operator, one_line};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// The maximum number of bytes of a text from the request that are kept.
const MAX_TEXT_BYTES: usize = 300;
/// The message for a publication to everybody with parameters of a release.
const OF_A_RELEASE: &str =
    "`for_s` and `promote` belong to a release: give `share`, 1 to 50; `promote` needs `for_s`.";

/// The query of `POST /catalog/publish`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishParameters {
    /// The name of the file in the catalog folder.
    file: String,
    /// The origin of the component.
    source: Option<String>,
    by: Option<String>,
    /// The share of callers who get it, in percent. Without it, all do.
    share: Option<u64>,
    /// The seconds after which the release is to be decided about, or is promoted.
    for_s: Option<u64>,
    /// Whether it is promoted by itself then, unless its calls speak against it.
    #[serde(default)]
    promote: bool,
}

/// The query of `POST /catalog/{id}/release/share`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShareParameters {
    /// In percent.
    share: u64,
    by: Option<String>,
}

/// The query of `POST /catalog/{id}/release/promote`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromoteParameters {
    by: Option<String>,
}

/// The query of `POST /catalog/{id}/release/abort`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AbortParameters {
    reason: Option<String>,
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

/// Makes the component in the body the desired version of its capability, or gives it to a share of the callers.
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<PublishParameters>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Published>, Refusal> {
    let Query(PublishParameters { file, source, by, share, for_s, promote }) =
        parameters.map_err(invalid_query)?;
    let without_share = share.is_none() && (for_s.is_some() || promote);
    if without_share || (promote && for_s.is_none()) {
        return Err(invalid(OF_A_RELEASE));
    }
    let content = read_component(&app, &headers, body)?;
    let source = source.map_or_else(|| format!("a file {file}"), shortened);
    let request = PublishRequest { file, source, decider: decider(operator, by) };
    let (catalog, content) = (&app.host.catalog, content.into());
    let published = match share {
        Some(share) => {
            let lasts = for_s.map(Duration::from_secs);
            let plan = ReleasePlan { share, lasts, promotes: promote };
            catalog.begin_release(content, request, plan).await
        }
        None => catalog.publish_component(content, request).await,
    };
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

/// Returns the newest release of a capability.
pub(super) async fn release(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<ReleaseStatus>, Refusal> {
    Ok(Json(app.host.catalog.newest_release(&id).await.map_err(publish_refusal)?))
}

/// Changes the share of callers who get the version of a release.
pub(super) async fn share_release(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<ShareParameters>, QueryRejection>,
) -> Result<Json<ReleaseStatus>, Refusal> {
    let Query(ShareParameters { share, by }) = parameters.map_err(invalid_query)?;
    let shared = app.host.catalog.share_release(&id, share, decider(operator, by)).await;
    Ok(Json(shared.map_err(publish_refusal)?))
}

/// Publishes the version of a release for all callers.
pub(super) async fn promote_release(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<PromoteParameters>, QueryRejection>,
) -> Result<Json<Published>, Refusal> {
    let Query(PromoteParameters { by }) = parameters.map_err(invalid_query)?;
    let promoted = app.host.catalog.promote_release(&id, decider(operator, by)).await;
    Ok(Json(promoted.map_err(publish_refusal)?))
}

/// Takes the version of a release back.
pub(super) async fn abort_release(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    parameters: Result<Query<AbortParameters>, QueryRejection>,
) -> Result<Json<ReleaseStatus>, Refusal> {
    let Query(AbortParameters { reason, by }) = parameters.map_err(invalid_query)?;
    let reason = reason.map(shortened);
    let aborted = app.host.catalog.abort_release(&id, reason, decider(operator, by)).await;
    Ok(Json(aborted.map_err(publish_refusal)?))
}

/// Returns the component in a body.
pub(super) fn read_component(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Bytes, Refusal> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let limit = app.host.sandbox.limits().component_bytes;
            let size = content_length(headers).unwrap_or(limit);
            publish_refusal(LoadError::TooLarge { size, limit }.into())
        }
        _ => Refusal(Failure::new(ErrorCode::ValidationFailed).message(rejection.body_text())),
    })
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
    Decider { operator: Some(operator), name }
}

fn shortened(text: String) -> String {
    one_line(&text, MAX_TEXT_BYTES)
}

/// Returns the failure of a publication or rollback, with the reason and the fix that `portolan check` gives.
pub(super) fn publish_refusal(error: PublishError) -> Refusal {
    let code = match &error {
        PublishError::Store(_) | PublishError::Stopping => ErrorCode::DependencyUnavailable,
        PublishError::UnknownVersion { .. } | PublishError::NoRelease(_) => ErrorCode::NotFound,
        PublishError::Breaking { .. }
        | PublishError::NothingServes(_)
        | PublishError::NotForAShare { .. }
        | PublishError::ReleaseRuns(_)
        | PublishError::NothingEarlier(_)
        | PublishError::NotKept { .. } => ErrorCode::InvalidTransition,
        PublishError::Refused(_)
        | PublishError::UndeclaredPeople(_)
        | PublishError::FileName(_)
        | PublishError::Share(_) => ErrorCode::ValidationFailed,
    };
    Refusal(Failure::new(code).message(error.to_string()).conflict(json!({
        "kind": "version",
        "reason": error.reason(),
        "fix": error.fix(),
        "problems": error.problems(),
    })))
}
