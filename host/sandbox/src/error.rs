//! The reasons why a sandbox has no answer, and the failure for each.

use crate::trap::{CallStack, GuestTrap};
use portolan_vocabulary::{ErrorCode, Failure, RETRY_SOON_S};
use serde_json::json;

/// The reason why a sandbox has no answer. Only `Host` is the host's own fault.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("no sandbox was free in time")]
    Busy,
    #[error("out of time{0}")]
    OutOfTime(CallStack),
    #[error("trapped: {0}")]
    Trapped(Box<GuestTrap>),
    #[error("asked for more memory than {0} bytes{1}")]
    OutOfMemory(u64, CallStack),
    #[error("answered with more than {0} bytes")]
    OutputTooLarge(u64),
    #[error("the host failed: {0}")]
    Host(String),
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        let limit =
            |name: &str, limit: u64| json!({ "kind": "limit", "name": name, "limit": limit });
        match error {
            SandboxError::Busy | SandboxError::Host(_) => {
                Self::new(ErrorCode::CapabilityUnavailable).after_s(RETRY_SOON_S)
            }
            SandboxError::OutOfTime(_) => {
                Self::new(ErrorCode::CapabilityTimeout).after_s(RETRY_SOON_S)
            }
            SandboxError::Trapped(_) => Self::new(ErrorCode::CapabilityTrapped),
            SandboxError::OutOfMemory(bytes, _) => {
                Self::new(ErrorCode::CapabilityTrapped).conflict(limit("call_memory_bytes", bytes))
            }
            SandboxError::OutputTooLarge(bytes) => Self::new(ErrorCode::CapabilityAnswerInvalid)
                .conflict(limit("call_output_bytes", bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_a_sandbox_has_its_code() {
        let trap = GuestTrap { reason: "secret".to_owned(), ..GuestTrap::default() };
        let answers = [
            (SandboxError::Busy, "capability_unavailable", true),
            (SandboxError::OutOfTime(CallStack::default()), "capability_timeout", true),
            (SandboxError::Trapped(Box::new(trap)), "capability_trapped", false),
            (SandboxError::OutOfMemory(1, CallStack::default()), "capability_trapped", false),
            (SandboxError::OutputTooLarge(1), "capability_answer_invalid", false),
            (SandboxError::Host("secret".to_owned()), "capability_unavailable", true),
        ];
        for (error, code, retryable) in answers {
            let failure = Failure::from(error);
            assert_eq!((failure.error_code.as_ref(), failure.retryable), (code, retryable));
            assert!(!failure.message.contains("secret"));
        }
    }
}
