//! The error codes that mean the same in every capability, and the categories of consequences: tables that the host
//! and the SDK share.
#![no_std]

mod categories;

pub use categories::{CATEGORIES, Category, OWN, is_category};

/// The kind of a failure, which determines the HTTP status.
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
    /// Returns the HTTP status: of RFC 9110, section 15, and for `TooMany` of RFC 6585.
    pub const fn http_status(self) -> u16 {
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

/// The row of one code.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    pub kind: ErrorKind,
    /// Whether the same call can succeed later, perhaps after the step in `next`.
    pub retryable: bool,
    /// Whether a component may answer with the code without declaring it.
    pub component: bool,
    /// The default message.
    pub message: &'static str,
}

macro_rules! codes {
    ($($code:ident $name:literal $kind:ident $retryable:literal $component:literal $message:literal)*) => {
        /// An error code that means the same in every capability.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($code),* }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// Returns the row of this code.
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$code => Row {
                        name: $name,
                        kind: ErrorKind::$kind,
                        retryable: $retryable,
                        component: $component,
                        message: $message,
                    }),*
                }
            }

            /// Returns the name of the code, as callers read it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name),* }
            }

            /// Returns the code with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$code),)* _ => None }
            }
        }
    };
}

// code, name, kind, retryable, whether a component may answer with it, message
codes! {
    AuthenticationRequired "authentication_required" Unauthenticated true false "Send a bearer token in the Authorization header."
    TokenInvalid "token_invalid" Unauthenticated true false "The access token is not valid. Get a new one."
    TokenExpired "token_expired" Unauthenticated true false "The access token has expired. Get a new one."
    AudienceMismatch "audience_mismatch" Unauthenticated false false "The access token was issued for another resource. Request one for this resource."
    InsufficientScope "insufficient_scope" Forbidden true false "The access token lacks a scope that this action needs."
    ClientRevoked "client_revoked" Unauthenticated false false "This client is revoked. Register again."
    IdentityExpired "identity_expired" Unauthenticated false false "This identity has expired. Register again."
    IdentityErased "identity_erased" Unauthenticated false false "This identity is erased. Register again."
    IdentitySuspended "identity_suspended" Forbidden false false "This identity is suspended."
    PhoneBindingRequired "phone_binding_required" Forbidden true true "A person must claim this identity with a one-time phone bind before it can write."
    ApprovalRequired "approval_required" Forbidden true false "The person behind this agent must approve this call. It waits for their decision."
    ApprovalDenied "approval_denied" Forbidden false false "The person behind this agent has denied this call."
    ApprovalExpired "approval_expired" Forbidden true true "The time in which the person could decide about this call has passed. Make the call again."
    MalformedJson "malformed_json" Invalid false false "The body is not a JSON object."
    PayloadTooLarge "payload_too_large" TooLarge false false "The body is too large."
    UnsupportedMediaType "unsupported_media_type" UnsupportedMedia false false "Send the body as application/json."
    UnknownCapability "unknown_capability" NotFound false false "There is no capability with this id."
    UnknownAction "unknown_action" Invalid false false "This capability has no such action."
    MethodNotAllowed "method_not_allowed" MethodNotAllowed false false "This path does not support this method."
    ValidationFailed "validation_failed" Invalid false true "The input does not satisfy the action's schema."
    CursorInvalid "cursor_invalid" Invalid false true "The cursor does not belong to this query."
    CapabilityDeprecated "capability_deprecated" Gone false false "This capability has reached its sunset date."
    NotFound "not_found" NotFound false true "There is no such thing."
    ResourceGone "resource_gone" Gone false true "It existed and was removed."
    NotPermitted "not_permitted" Forbidden false true "The caller may not do this."
    NotOwner "not_owner" Forbidden false true "Only its owner may do this."
    NotParticipant "not_participant" Forbidden false true "Only participants may do this."
    ConfirmRequired "confirm_required" Conflict true true "Confirm by repeating the call with confirm set to true."
    VersionConflict "version_conflict" Conflict true true "It was changed at the same time. Read it again, then repeat the call."
    InvalidTransition "invalid_transition" Conflict false true "The current state does not allow this action."
    IdempotencyKeyReused "idempotency_key_reused" Unprocessable false false "This idempotency key was used with another body."
    IdempotencyInProgress "idempotency_in_progress" Conflict true false "The first call with this idempotency key is still running."
    RateLimited "rate_limited" TooMany true true "Too many calls. Wait before the next one."
    QuotaExceeded "quota_exceeded" TooMany true true "A quota is used up."
    InsufficientCredits "insufficient_credits" PaymentRequired true true "There are not enough credits."
    AccountFrozen "account_frozen" Forbidden false true "This account is frozen."
    InternalError "internal_error" Internal false true "Something went wrong on our side. Report it with the request_id."
    CapabilityTrapped "capability_trapped" Internal false false "The capability crashed. Nothing was changed."
    CapabilityAnswerInvalid "capability_answer_invalid" Internal false false "The capability's answer is invalid. Nothing was changed."
    CapabilityTimeout "capability_timeout" OutOfTime true false "The capability took too long. Nothing was changed."
    CapabilityUnavailable "capability_unavailable" Unavailable true false "The capability is busy or being replaced. Try again in a moment."
    DependencyUnavailable "dependency_unavailable" Unavailable true true "A dependency of this capability is unavailable. Try again in a moment."
    Maintenance "maintenance" Unavailable true true "The service is under maintenance."
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn every_name_belongs_to_one_code() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.name()), Some(*code));
        }
    }
}
