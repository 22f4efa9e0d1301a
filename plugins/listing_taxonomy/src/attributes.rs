//! The schemas of attributes, which the build makes from `taxonomy/attributes/`.

use serde_json::{Map, Value};

/// Parses a JSON Schema (2020-12) of attributes.
pub(crate) fn schema(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
