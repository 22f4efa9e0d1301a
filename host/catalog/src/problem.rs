//! The problems of a descriptor, as its author sees them.

use serde::Serialize;
use std::collections::HashSet;

/// The fix of a schema that is too complex. The reason of the refusal is recognized by it.
pub(super) const TOO_COMPLEX_FIX: &str = "refer to a definition once in allOf, anyOf and oneOf, bound arrays with maxItems, and write shorter patterns";

/// One problem of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The part of the descriptor, such as `actions.search.input`.
    pub at: String,
    pub problem: String,
    pub fix: String,
}

/// The problems that are found so far.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn add(
        &mut self,
        at: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.0.push(Problem { at: at.into(), problem: problem.into(), fix: fix.into() });
    }

    /// Reports every name that is given twice.
    pub(super) fn add_duplicates<'a>(&mut self, at: &str, names: impl Iterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                self.add(at, format!("{name} is given twice"), "give each its own name");
            }
        }
    }
}

pub(super) fn check_text(at: &str, text: &str, limit: usize, problems: &mut Problems) {
    if text.trim().is_empty() {
        problems.add(at, "is empty", "say it for an agent that decides whether to use this");
    } else if text.chars().count() > limit {
        problems.add(at, format!("is longer than {limit} characters"), "shorten it");
    }
}

/// Cuts a text before it is repeated, because the author may be hostile.
pub(super) fn excerpt(text: &str) -> &str {
    text.get(..text.floor_char_boundary(80)).unwrap_or_default()
}
