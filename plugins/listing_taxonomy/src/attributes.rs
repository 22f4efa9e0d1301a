//! What a listing says beyond its title and text, as the build has made it of `taxonomy/attributes/`.

use serde_json::{Map, Value};

/// Reads a JSON Schema (2020-12) of attributes.
pub(crate) fn schema(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
