//! A parsed tool call.

use serde_json::{Map, Value};
use std::sync::Arc;

/// A parsed tool call. `Find` and `Describe` come from the tools for a large catalog.
#[derive(Debug)]
pub(super) enum ToolRequest {
    Find { query: String },
    Describe { capability: String },
    Call(Target),
}

/// The capability call that a tool call becomes.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) capability: Arc<str>,
    pub(super) body: Map<String, Value>,
}
