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

/// Returns whether the value of this key is counted: a string, a number or a boolean.
pub fn is_counted(key: &str) -> bool {
    key::is_present(key) && key < key::COMPOSITE
}

/// Returns the most frequent values, at most 100, the most frequent first. Values with the same
/// count are in the order of their keys.
pub fn most_frequent(counts: BTreeMap<String, u64>) -> Vec<Counted> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(one, more), (other, fewer)| fewer.cmp(more).then_with(|| one.cmp(other)));
    counts.truncate(VALUES);
    let counted = |(key, count): (String, u64)| Counted { value: key::value(&key), count };
    counts.into_iter().map(counted).collect()
}
