//! The answer of a component to a call.

use crate::contract::types;

/// The answer of a component: a result, or its refusal.
#[derive(Debug)]
pub enum GuestAnswer {
    Success {
        output: String,
        next: Option<String>,
    },
    Refused {
        code: String,
        message: String,
        conflict: Option<String>,
        next: Option<String>,
        keep_writes: bool,
    },
}

impl GuestAnswer {
    /// Returns the number of bytes of all texts of the answer.
    pub fn size(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Success { output, next } => output.len() + optional(next),
            Self::Refused { code, message, conflict, next, .. } => {
                code.len() + message.len() + optional(conflict) + optional(next)
            }
        }
    }
}

impl From<Result<types::Success, types::Failure>> for GuestAnswer {
    fn from(answer: Result<types::Success, types::Failure>) -> Self {
        match answer {
            Ok(success) => Self::Success { output: success.output, next: success.next },
            Err(failure) => Self::Refused {
                code: failure.code,
                message: failure.message,
                conflict: failure.conflict,
                next: failure.next,
                keep_writes: failure.keep_writes,
            },
        }
    }
}
