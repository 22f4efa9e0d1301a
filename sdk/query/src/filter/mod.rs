//! A filter over keys, and its evaluation in memory with the same result as in SQL.

mod parse;

pub use parse::FilterError;

use super::{Path, key};

/// A condition on the keys of a document. An empty `And` is true, an empty `Or` or `In` false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    /// The key of the path, or one of its keys if it has several, is one of these (sorted and distinct).
    In {
        path: Path,
        keys: Vec<String>,
    },
    /// The key of the path, or one of its keys if it has several, lies between these. Both ends are of one
    /// kind, so only values of that kind match.
    Range {
        path: Path,
        lower: Bound,
        upper: Bound,
    },
    /// Whether the path has a value other than null.
    Exists {
        path: Path,
        exists: bool,
    },
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    pub key: String,
    pub inclusive: bool,
}

impl Filter {
    /// Returns whether the filter matches a document with these keys, listed for each declared path.
    pub fn matches(&self, declared: &[Path], keys: &[Vec<String>]) -> bool {
        let any = |path: &Path, fits: &dyn Fn(&str) -> bool| {
            let place = declared.iter().position(|declared| declared == path);
            let keys = place.and_then(|place| keys.get(place));
            keys.into_iter().flatten().any(|key| fits(key))
        };
        match self {
            Self::And(all) => all.iter().all(|filter| filter.matches(declared, keys)),
            Self::Or(any) => any.iter().any(|filter| filter.matches(declared, keys)),
            Self::Not(filter) => !filter.matches(declared, keys),
            Self::In { path, keys } => {
                any(path, &|key| keys.binary_search_by(|own| own.as_str().cmp(key)).is_ok())
            }
            Self::Range { path, lower, upper } => {
                any(path, &|key| lower.is_below(key) && upper.is_above(key))
            }
            Self::Exists { path, exists } => any(path, &key::is_present) == *exists,
        }
    }

    /// Returns bytes that are equal for filters that differ only in the order of their parts.
    pub(super) fn canonical(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::And(filters) | Self::Or(filters) => {
                bytes.push(if matches!(self, Self::And(_)) { b'a' } else { b'o' });
                let mut parts: Vec<_> = filters.iter().map(Self::canonical).collect();
                parts.sort_unstable();
                add_all(&mut bytes, parts.iter().map(Vec::as_slice));
            }
            Self::Not(filter) => {
                bytes.push(b'n');
                add(&mut bytes, &filter.canonical());
            }
            Self::In { path, keys } => {
                bytes.push(b'i');
                add(&mut bytes, path.as_str().as_bytes());
                add_all(&mut bytes, keys.iter().map(String::as_bytes));
            }
            Self::Range { path, lower, upper } => {
                bytes.push(b'r');
                add(&mut bytes, path.as_str().as_bytes());
                for bound in [lower, upper] {
                    bytes.push(u8::from(bound.inclusive));
                    add(&mut bytes, bound.key.as_bytes());
                }
            }
            Self::Exists { path, exists } => {
                bytes.extend([b'e', u8::from(*exists)]);
                add(&mut bytes, path.as_str().as_bytes());
            }
        }
        bytes
    }
}

impl Bound {
    fn is_below(&self, key: &str) -> bool {
        self.key.as_str() < key || self.inclusive && self.key == key
    }

    fn is_above(&self, key: &str) -> bool {
        self.key.as_str() > key || self.inclusive && self.key == key
    }
}

/// Adds a part after its length, so that different lists of parts have different bytes.
pub(super) fn add(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_be_bytes());
    bytes.extend(part);
}

pub(super) fn add_all<'p>(bytes: &mut Vec<u8>, parts: impl ExactSizeIterator<Item = &'p [u8]>) {
    bytes.extend((parts.len() as u64).to_be_bytes());
    parts.for_each(|part| add(bytes, part));
}

#[cfg(test)]
mod tests;
