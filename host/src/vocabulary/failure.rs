//! The one envelope of every refusal, and the table of codes the host itself answers with.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// What sort of refusal a code is; the HTTP status follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Invalid,
    Unauthenticated,
    PaymentRequired,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    Gone,
    TooLarge,
    UnsupportedMedia,
    Unprocessable,
    TooMany,
    Internal,
    Upstream,
    Unavailable,
    OutOfTime,
}

impl ErrorKind {
    /// RFC 9110.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::PaymentRequired => 402,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Conflict => 409,
            Self::Gone => 410,
            Self::TooLarge => 413,
            Self::UnsupportedMedia => 415,
            Self::Unprocessable => 422,
            Self::TooMany => 429,
            Self::Internal => 500,
            Self::Upstream => 502,
            Self::Unavailable => 503,
            Self::OutOfTime => 504,
        }
    }
}

/// A code that means the same in every capability.
#[derive(Debug)]
pub struct CommonCode {
    pub code: &'static str,
    pub kind: ErrorKind,
    /// The same call can succeed later, perhaps after the step in `next`.
    pub retryable: bool,
    /// The message callers read, unless the place that refuses knows better.
    pub message: &'static str,
    /// Whether a component may answer with it without declaring it.
    pub component: bool,
}

macro_rules! codes {
    ($($code:literal $kind:ident $retryable:literal $component:literal $message:literal)*) => {
        /// Every common code.
        pub const COMMON_CODES: &[CommonCode] = &[$(CommonCode {
            code: $code,
            kind: ErrorKind::$kind,
            retryable: $retryable,
            component: $component,
            message: $message,
        }),*];
    };
}

// code, kind, retryable, may a component answer with it, message
codes! {
    "authentication_required" Unauthenticated true false "Send a bearer token in the Authorization header."
    "token_invalid" Unauthenticated true false "The access token is not valid. Get a new one."
    "token_expired" Unauthenticated true false "The access token has expired. Get a new one."
    "audience_mismatch" Unauthenticated false false "The access token was issued for another surface."
    "insufficient_scope" Forbidden true false "The access token lacks a scope that this action needs."
    "client_revoked" Unauthenticated false false "This client is revoked. Register again."
    "identity_expired" Unauthenticated false false "This identity has expired. Register again."
    "identity_erased" Unauthenticated false false "This identity is erased. Register again."
    "identity_suspended" Forbidden false false "This identity is suspended."
    "phone_binding_required" Forbidden true true "A person must claim this identity with a one-time phone bind before it can write."
    "approval_required" Forbidden true true "The person behind this agent must approve this call."
    "approval_denied" Forbidden false true "The person behind this agent has denied this call."
    "approval_expired" Forbidden true true "The approval of this call has expired."
    "malformed_json" Invalid false false "The body is not a JSON object."
    "payload_too_large" TooLarge false false "The body is too large."
    "unsupported_media_type" UnsupportedMedia false false "Send the body as application/json."
    "unknown_capability" NotFound false false "There is no capability with this id."
    "unknown_action" Invalid false false "This capability has no such action."
    "method_not_allowed" MethodNotAllowed false false "This path does not take this method."
    "validation_failed" Invalid false true "The input does not satisfy the action's schema."
    "cursor_invalid" Invalid false true "The cursor does not belong to this query."
    "capability_deprecated" Gone false false "This capability has reached its sunset date."
    "not_found" NotFound false true "There is no such thing."
    "resource_gone" Gone false true "It was there and is no more."
    "not_permitted" Forbidden false true "The caller may not do this."
    "not_owner" Forbidden false true "Only its owner may do this."
    "not_participant" Forbidden false true "Only participants may do this."
    "confirm_required" Conflict true true "Confirm by repeating the call with confirm set to true."
    "version_conflict" Conflict true true "Somebody else changed this at the same time."
    "invalid_transition" Conflict false true "The current state does not allow this action."
    "idempotency_key_reused" Unprocessable false false "This idempotency key was used with another body."
    "idempotency_in_progress" Conflict true false "The first call with this idempotency key is still running."
    "rate_limited" TooMany true true "Too many calls. Wait before the next one."
    "quota_exceeded" TooMany true true "The daily quota is used up."
    "insufficient_credits" PaymentRequired true true "There are not enough credits."
    "account_frozen" Forbidden false true "This account is frozen."
    "internal_error" Internal true true "Something went wrong on our side."
    "capability_trapped" Internal true false "The capability crashed. Nothing was changed."
    "capability_answer_invalid" Internal false false "The capability broke its own contract. Nothing was changed."
    "capability_timeout" OutOfTime true false "The capability took too long. Nothing was changed."
    "capability_unavailable" Unavailable true false "The capability is busy or being replaced. Try again in a moment."
    "dependency_unavailable" Unavailable true true "A part that this capability depends on is away. Try again in a moment."
    "maintenance" Unavailable true true "The service is under maintenance."
}

/// The row of a common code.
pub fn common_code(code: &str) -> Option<&'static CommonCode> {
    COMMON_CODES.iter().find(|row| row.code == code)
}

/// A refusal on its way out: `{error_code, message, retryable, conflict?, next?}`.
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
    /// A common code with its message from the table. A code that is not in the table becomes
    /// `internal_error`; a test looks for that.
    pub fn new(code: &'static str) -> Self {
        let row = common_code(code);
        debug_assert!(row.is_some(), "{code} is not in the table");
        let fallback = CommonCode {
            code: "internal_error",
            kind: ErrorKind::Internal,
            retryable: true,
            message: "Something went wrong on our side.",
            component: true,
        };
        let row = row.unwrap_or(&fallback);
        Self {
            error_code: Cow::Borrowed(row.code),
            message: Cow::Borrowed(row.message),
            retryable: row.retryable,
            conflict: None,
            next: None,
            kind: row.kind,
        }
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

    /// The same call may succeed after this many seconds.
    #[must_use]
    pub fn after_s(self, seconds: u32) -> Self {
        self.next(serde_json::json!({ "after_s": seconds, "then": "retry_original" }))
    }
}

#[cfg(test)]
mod tests {
    use super::COMMON_CODES;

    #[test]
    fn every_code_stands_once() {
        let mut codes: Vec<_> = COMMON_CODES.iter().map(|row| row.code).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
