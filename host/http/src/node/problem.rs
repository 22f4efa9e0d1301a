//! Something that is wrong on a node.

use super::parts::Part;
use serde::{Serialize, Serializer};

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not work now.
    Error,
    /// Something needs attention.
    Warning,
}

/// Something that is wrong, with its fix.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "name")]
    pub part: &'static Part,
    pub severity: Severity,
    /// Whether it makes the node unready.
    pub unready: bool,
    pub problem: String,
    pub why: &'static str,
    /// What to do about it.
    pub fix: String,
}

fn name<S: Serializer>(part: &&'static Part, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(part.name)
}

impl Problem {
    /// Something that makes the node unready.
    pub fn unready(
        part: &'static Part,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { unready: true, ..Self::error(part, problem, fix) }
    }

    /// Something that does not work now, on a node that stays ready.
    pub fn error(part: &'static Part, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        let (problem, fix) = (problem.into(), fix.into());
        Self { part, severity: Severity::Error, unready: false, problem, why: part.why, fix }
    }

    /// Something that needs attention.
    pub fn warning(
        part: &'static Part,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(part, problem, fix) }
    }
}
