//! The number of documents with each value of a path.

use super::key;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum number of paths that are counted at once.
pub const MAX_COUNTED_PATHS: usize = 4;
/// The maximum number of values of a path that are returned.
const VALUES: usize = 100;

/// A value of a path, and the number of documents that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    pub value: Value,
    pub count: u64,
}

/// Returns whether values of this key are counted: those of texts, numbers and booleans.
pub fn is_counted(key: &str) -> bool {
    key::is_present(key) && key < key::COMPOSITE
}

/// Returns the values of the keys that most documents have, the most frequent first.
pub fn most_frequent(counts: BTreeMap<String, u64>) -> Vec<Counted> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(one, more), (other, fewer)| fewer.cmp(more).then_with(|| one.cmp(other)));
    counts.truncate(VALUES);
    let counted = |(key, count): (String, u64)| Counted { value: key::value(&key), count };
    counts.into_iter().map(counted).collect()
}
