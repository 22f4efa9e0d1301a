//! The outcome of a call.

use portolan_vocabulary::{Failure, WaitReason};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The result and the next step, or the failure.
pub(crate) type Outcome = Result<(Value, Option<Value>), Failure>;

/// An event that a dry run would have published.
#[derive(Debug, Serialize)]
pub struct Emitted {
    pub event_type: String,
    pub subject: String,
}

/// The success body: `{result, meta, next?}`.
#[derive(Debug, Serialize)]
pub struct Answer {
    pub result: Value,
    pub meta: Meta,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// The metadata of an answer.
#[derive(Debug, Serialize)]
pub struct Meta {
    pub capability: Arc<str>,
    pub action: String,
    pub version: String,
    pub request_id: Arc<str>,
    pub replayed: bool,
    pub test_mode: bool,
    pub cost_credits: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The events that a dry run would have published; `None` if the call was no dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_emit: Option<Vec<Emitted>>,
    /// Why the call would wait for the person's approval, if it was a dry run of such a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_approval: Option<WaitReason>,
}
