//! The answer of the capability of the role `handoffs` about an address.

use crate::{App, oauth::person::calls::PersonCalls};
use portolan_pipeline::Operation;
use portolan_vocabulary::{ErrorCode, Failure, Role, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The actions of the role: to make the address of a handoff, which stores nothing; to preview one; to use one up.
const RESOLVE: &str = "resolve";
pub(super) const PREVIEW: &str = "preview";
pub(super) const REDEEM: &str = "redeem";
/// The error code for a handoff that was not signed here, or was signed in the other mode.
const SIGNATURE_INVALID: &str = "handoff_signature_invalid";
/// The error codes for an address that is too old, and for one that was used.
pub(super) const EXPIRED: &str = "handoff_expired";
pub(super) const USED: &str = "handoff_used";

/// The part of the capability's answer that pages show.
#[derive(Deserialize)]
pub(super) struct Preview {
    #[serde(flatten)]
    pub(super) ids: Ids,
    pub(super) title: String,
    /// The records that it is about, the most specific first.
    #[serde(default)]
    pub(super) about: Vec<About>,
    pub(super) draft: Draft,
    pub(super) requires: Requires,
    pub(super) consent_text: String,
    pub(super) carries: Vec<String>,
    pub(super) never_carries: Vec<String>,
    pub(super) expires_at: Timestamp,
}

/// A record of the feeds that a handoff is about.
#[derive(Deserialize)]
pub(super) struct About {
    pub(super) kind: String,
    pub(super) feed: String,
    pub(super) id: String,
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct Requires {
    /// Whether the agent must be claimed.
    pub(super) claimed: bool,
}

#[derive(Deserialize)]
pub(super) struct Draft {
    pub(super) capability: String,
    pub(super) input: Map<String, Value>,
    /// The fields that only the person can give.
    #[serde(default)]
    pub(super) missing: Vec<String>,
    pub(super) ask_user: Option<String>,
}

/// A handoff that can be taken up.
pub(super) struct Found {
    /// The answer as agents get it.
    pub(super) answer: Value,
    pub(super) preview: Preview,
    /// Whether its address was made in test mode.
    pub(super) test_mode: bool,
}

/// The handoff and the record of an answer or of a refusal.
#[derive(Deserialize)]
pub(super) struct Ids {
    pub(super) handoff_id: String,
    pub(super) record_id: String,
}

impl Ids {
    /// Returns what a refusal says of the handoff that was refused.
    pub(super) fn of(failure: &Failure) -> Option<Self> {
        Self::deserialize(failure.conflict.as_deref()?).ok()
    }
}

/// Returns the token of a new address.
pub(super) async fn resolve(
    app: &App,
    handoff_id: &str,
    record_id: &str,
) -> Result<String, Failure> {
    let operation = Operation {
        capability: holder(app)?,
        action: RESOLVE.to_owned(),
        input: json!({ "handoff_id": handoff_id, "record_id": record_id }),
        test_mode: false,
    };
    let answer = app.host.read(&operation).await?;
    let token = answer.get("token").and_then(Value::as_str);
    token.map(str::to_owned).ok_or_else(|| Failure::new(ErrorCode::CapabilityAnswerInvalid))
}

/// Previews an address, as anybody may.
pub(super) async fn preview(app: &App, token: &str) -> Result<Found, Failure> {
    let capability = holder(app)?;
    let operation = |test_mode| Operation {
        capability: capability.clone(),
        action: PREVIEW.to_owned(),
        input: json!({ "token": token }),
        test_mode,
    };
    let (answer, test_mode) = match app.host.read(&operation(false)).await {
        Err(failure) if failure.error_code == SIGNATURE_INVALID => {
            (app.host.read(&operation(true)).await?, true)
        }
        answer => (answer?, false),
    };
    let invalid = |error| {
        tracing::error!(%error, "the preview of a handoff cannot be parsed");
        Failure::new(ErrorCode::CapabilityAnswerInvalid)
    };
    let preview = Preview::deserialize(&answer).map_err(invalid)?;
    Ok(Found { answer, preview, test_mode })
}

/// Previews an address in the name of a person; a refusal then has more detail.
pub(super) async fn preview_as(
    app: &App,
    token: &str,
    calls: &PersonCalls<'_>,
) -> Result<Value, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.holder(Role::Handoffs)?;
    calls.call(capability, PREVIEW, of_token(token)).await
}

/// Uses an address up in the name of a person.
pub(super) async fn redeem(
    app: &App,
    token: &str,
    calls: &PersonCalls<'_>,
) -> Result<Value, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.holder(Role::Handoffs)?;
    calls.call(capability, REDEEM, of_token(token)).await
}

/// Makes a new address of the same handoff if the former one has expired.
pub(super) async fn begin_again(app: &App, failure: &Failure) -> Option<(String, Found)> {
    let ids = Ids::of(failure).filter(|_| failure.error_code == EXPIRED)?;
    let token = resolve(app, &ids.handoff_id, &ids.record_id).await.ok()?;
    let found = preview(app, &token).await.ok()?;
    Some((token, found))
}

fn holder(app: &App) -> Result<String, Failure> {
    Ok(app.host.catalog.snapshot().holder(Role::Handoffs)?.id.to_string())
}

fn of_token(token: &str) -> Map<String, Value> {
    Map::from_iter([("token".to_owned(), Value::from(token))])
}
