//! A JSON document about a catalog, in the form in which it is sent.

use portolan_vocabulary::Digest;
use serde_json::Value;
use std::sync::Arc;

/// The bytes of a document and its entity tag, made once for all requests.
#[derive(Debug, Clone)]
pub struct Document {
    pub body: Arc<str>,
    /// A quoted entity tag (RFC 9110). It is weak, because the body may be compressed on its way.
    pub etag: String,
}

impl Document {
    pub fn new(value: &Value) -> Self {
        let body = value.to_string();
        let etag = format!("W/\"{}\"", &Digest::of(body.as_bytes()).hex()[..32]);
        Self { body: Arc::from(body), etag }
    }
}
