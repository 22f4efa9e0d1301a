//! What a call of a tool asks for.

use serde_json::{Map, Value};
use std::sync::Arc;

/// What a call of a tool asks for. Only the tools of a large catalog find and describe.
#[derive(Debug)]
pub(super) enum ToolRequest {
    Find { query: String },
    Describe { capability: String },
    Call(Target),
}

/// The call that a tool stands for.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) capability: Arc<str>,
    pub(super) body: Map<String, Value>,
}
