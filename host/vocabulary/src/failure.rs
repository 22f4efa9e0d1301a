//! The envelope of every failure.

use portolan_codes::{ErrorCode, ErrorKind};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// The seconds after which a call may be retried if its failure was not the caller's fault.
pub const RETRY_SOON_S: u32 = 1;

/// A failure as callers get it: `{error_code, message, retryable, conflict?, next?}`.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    pub error_code: Cow<'static, str>,
    pub message: Cow<'static, str>,
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Box<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Box<Value>>,
    #[serde(skip)]
    pub kind: ErrorKind,
}

impl Failure {
    /// Creates a failure with a common code and its message from the table.
    pub fn new(code: ErrorCode) -> Self {
        let row = code.row();
        Self {
            error_code: Cow::Borrowed(row.name),
            message: Cow::Borrowed(row.message),
            retryable: row.retryable,
            conflict: None,
            next: None,
            kind: row.kind,
        }
    }

    /// Returns whether this failure has the given common code.
    pub fn has_code(&self, code: ErrorCode) -> bool {
        self.error_code == code.name()
    }

    #[must_use]
    pub fn message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    #[must_use]
    pub fn conflict(mut self, conflict: Value) -> Self {
        self.conflict = Some(Box::new(conflict));
        self
    }

    #[must_use]
    pub fn next(mut self, next: Value) -> Self {
        self.next = Some(Box::new(next));
        self
    }

    /// Adds the next step to retry the same call after this many seconds.
    #[must_use]
    pub fn after_s(self, seconds: u32) -> Self {
        self.next(serde_json::json!({ "after_s": seconds, "then": "retry_original" }))
    }
}
