//! The conflict of a refusal because there are as many of something as there may be.

use portolan_sdk::prelude::*;

#[derive(Debug, Serialize)]
pub struct Limit {
    kind: &'static str,
    name: &'static str,
    limit: u64,
}

impl Limit {
    pub fn new(name: &'static str, limit: u64) -> Self {
        Self { kind: "limit", name, limit }
    }
}
