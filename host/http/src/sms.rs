//! `POST /v1/sms/reports/{id}`: the provider of text messages reports the state of a message.

use crate::{App, Refusal};
use axum::{
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
};
use portolan_vocabulary::{ErrorCode, Failure};
use std::sync::Arc;

/// The provider's final states of a message that was not delivered.
const FAILED_STATES: [&str; 2] = ["undelivered", "failed"];

pub(super) async fn report(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    let unsigned = || {
        Refusal(
            Failure::new(ErrorCode::NotPermitted)
                .message("The report is not signed by the provider."),
        )
    };
    let body = body.map_err(|_| unsigned())?;
    let parameters: Vec<(String, String)> =
        serde_urlencoded::from_bytes(&body).map_err(|_| unsigned())?;
    let signature = headers.get("x-twilio-signature").and_then(|value| value.to_str().ok());
    if !app.host.sms.is_genuine(&id, &parameters, signature.unwrap_or_default()) {
        return Err(unsigned());
    }
    let is_failed = parameters
        .iter()
        .any(|(name, value)| name == "MessageStatus" && FAILED_STATES.contains(&value.as_str()));
    if is_failed {
        app.host.report_undelivered_message(&id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
