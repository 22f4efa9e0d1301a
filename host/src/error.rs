//! What every room's errors mean to a caller. The only place that translates them.

use crate::{
    db::{DbError, StateError},
    identity::IdentityError,
    sandbox::SandboxError,
    vocabulary::Failure,
};
use serde_json::{Value, json};

/// Seconds after which a call that failed through no fault of the caller's may be repeated.
const SOON_S: u32 = 1;

fn http(method: &str, url: &str) -> Value {
    json!({ "http": { "method": method, "url": url } })
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        let limit =
            |name: &str, limit: u64| json!({ "kind": "limit", "name": name, "limit": limit });
        match error {
            SandboxError::Busy => Self::new("capability_unavailable").after_s(SOON_S),
            SandboxError::OutOfTime => Self::new("capability_timeout").after_s(SOON_S),
            SandboxError::Trapped(_) => Self::new("capability_trapped").after_s(SOON_S),
            SandboxError::OutOfMemory(bytes) => {
                Self::new("capability_trapped").conflict(limit("call_memory_bytes", bytes))
            }
            SandboxError::OutputTooLarge(bytes) => {
                Self::new("capability_answer_invalid").conflict(limit("call_output_bytes", bytes))
            }
            SandboxError::Host(_) => Self::new("internal_error").after_s(SOON_S),
        }
    }
}

impl From<DbError> for Failure {
    fn from(_: DbError) -> Self {
        Self::new("dependency_unavailable").after_s(SOON_S)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        match error {
            StateError::CursorInvalid => Self::new("cursor_invalid"),
            StateError::Db(error) => error.into(),
            _ => Self::new("internal_error"),
        }
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        let register = || http("POST", "/v1/agents/register");
        let token = || http("POST", "/oauth/token");
        match error {
            IdentityError::NoToken => Self::new("authentication_required").next(register()),
            IdentityError::TokenInvalid => Self::new("token_invalid").next(token()),
            IdentityError::TokenExpired => Self::new("token_expired").next(token()),
            IdentityError::OtherAudience => Self::new("audience_mismatch")
                .next(http("GET", "/.well-known/oauth-protected-resource")),
            IdentityError::AgentRevoked => Self::new("client_revoked").next(register()),
            IdentityError::AgentGone => Self::new("identity_expired").next(register()),
            IdentityError::Records(StateError::Limit(_)) => Self::new("not_permitted")
                .message("This person has as many agents as one may have."),
            IdentityError::OAuth(_)
            | IdentityError::Random(_)
            | IdentityError::Key(_)
            | IdentityError::Records(_) => Self::new("internal_error"),
            IdentityError::Db(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_of_a_sandbox_has_its_code() {
        let answers = [
            (SandboxError::Busy, "capability_unavailable", true),
            (SandboxError::OutOfTime, "capability_timeout", true),
            (SandboxError::Trapped("secret".to_owned()), "capability_trapped", true),
            (SandboxError::OutOfMemory(1), "capability_trapped", true),
            (SandboxError::OutputTooLarge(1), "capability_answer_invalid", false),
            (SandboxError::Host("secret".to_owned()), "internal_error", true),
        ];
        for (error, code, retryable) in answers {
            let failure = Failure::from(error);
            assert_eq!((failure.error_code.as_ref(), failure.retryable), (code, retryable));
            assert!(!failure.message.contains("secret"));
        }
    }
}
