//! The problems of a node.

use super::parts::Part;
use serde::{Serialize, Serializer};

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A part does not work now.
    Error,
    /// A part needs attention.
    Warning,
}

/// A problem, with its fix.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "name")]
    pub part: &'static Part,
    pub severity: Severity,
    /// Whether it makes the node unready.
    pub unready: bool,
    pub problem: String,
    pub why: &'static str,
    /// The fix.
    pub fix: String,
}

fn name<S: Serializer>(part: &&'static Part, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(part.name)
}

impl Problem {
    /// Returns a problem that makes the node unready.
    pub fn unready(
        part: &'static Part,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { unready: true, ..Self::error(part, problem, fix) }
    }

    /// Returns a problem of a part that does not work now, on a node that stays ready.
    pub fn error(part: &'static Part, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        let (problem, fix) = (problem.into(), fix.into());
        Self { part, severity: Severity::Error, unready: false, problem, why: part.why, fix }
    }

    /// Returns a problem that needs attention.
    pub fn warning(
        part: &'static Part,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(part, problem, fix) }
    }
}
