//! A failure of a component that the host remembers.

use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A failure that the host remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFailure {
    pub(super) kind: Kind,
    pub(super) message: String,
    /// The conditions beside the component on which the failure may depend.
    pub(super) conditions: String,
    pub(super) noted_at: Timestamp,
}

/// The step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Invalid,
    CompileTimeout,
    CompileFailed,
    Describe,
    /// `describe` trapped and said why.
    DescribeTrapped,
    DescriptionTooLarge,
}

impl fmt::Display for KnownFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (found at {})", self.message, self.noted_at)
    }
}

impl Kind {
    /// Returns the code of the refusal.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::CompileTimeout => "compile_timeout",
            Self::CompileFailed => "compile_failed",
            Self::Describe | Self::DescribeTrapped | Self::DescriptionTooLarge => "describe_failed",
        }
    }

    /// Returns the fix.
    pub(super) const fn fix(self) -> &'static str {
        match self {
            Self::Invalid => "build and copy it again; it is damaged or cut short",
            Self::CompileTimeout => "build it smaller, or raise limits.compile_time_ms",
            Self::CompileFailed => "build it smaller: the compiler ran out of memory or failed",
            Self::Describe => "make describe return a constant, quickly, without using any import",
            Self::DescribeTrapped => "correct what the message names",
            Self::DescriptionTooLarge => {
                "shorten its descriptions, schemas and examples, or raise limits.call_output_bytes"
            }
        }
    }
}
