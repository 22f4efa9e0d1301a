//! The SHA-256 digest of a component or of an input.

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// SHA-256 of a component's file, or of a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of a JSON value. The order of an object's members does not change it.
    pub fn of_value(value: &Value) -> Self {
        Self::of(canonical(value).to_string().as_bytes())
    }

    /// Returns the digest as 64 hexadecimal digits, without the prefix `sha256:`.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut members: Vec<_> = fields.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members.into_iter().map(|(name, value)| (name.clone(), canonical(value))).collect()
        }
        Value::Array(elements) => elements.iter().map(canonical).collect(),
        other => other.clone(),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
