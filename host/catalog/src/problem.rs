//! The problems of a descriptor, as its author sees them.

use portolan_names::{find_invisible, is_invisible};
use portolan_vocabulary::one_line;
use serde::Serialize;
use std::collections::HashSet;

/// The maximum number of bytes of a problem and of its place.
const PROBLEM_BYTES: usize = 600;
const AT_BYTES: usize = 200;

/// The fix for a schema that is too complex. `LoadError::reason` recognizes such a problem by this text.
pub(super) const TOO_COMPLEX_FIX: &str = "refer to a definition once in allOf, anyOf and oneOf, bound arrays with maxItems, and write shorter patterns";

/// One problem of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The part of the descriptor, such as `actions.search.input`.
    pub at: String,
    pub problem: String,
    pub fix: String,
}

/// The problems found so far.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn add(
        &mut self,
        at: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) {
        // Both may quote the author, who may be hostile.
        let (at, problem) =
            (one_line(&at.into(), AT_BYTES), one_line(&problem.into(), PROBLEM_BYTES));
        self.0.push(Problem { at, problem, fix: fix.into() });
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

/// Checks a text that people and agents read: in a catalog, on a page, in a terminal.
pub(super) fn check_text(at: &str, text: &str, limit: usize, problems: &mut Problems) {
    if text.chars().all(|letter| letter.is_whitespace() || is_invisible(letter)) {
        problems.add(at, "is empty", "say it for an agent that decides whether to use this");
    } else if text.chars().count() > limit {
        problems.add(at, format!("is longer than {limit} characters"), "shorten it");
    }
    if let Some(letter) = text.split(['\n', '\t']).find_map(find_invisible) {
        let problem =
            format!("has the character U+{:04X}, which cannot be seen", u32::from(letter));
        problems.add(at, problem, "leave it out");
    }
}

/// Checks a text of one line, such as a title.
pub(super) fn check_line(at: &str, text: &str, limit: usize, problems: &mut Problems) {
    check_text(at, text, limit, problems);
    if text.contains(['\n', '\t']) {
        problems.add(at, "has a line break or a tab", "write it in one line");
    }
}

/// Returns the first 80 bytes of a text, to quote it in a problem, because the author may be hostile.
pub(super) fn excerpt(text: &str) -> &str {
    text.get(..text.floor_char_boundary(80)).unwrap_or_default()
}
